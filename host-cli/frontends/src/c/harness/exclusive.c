extern unsigned vouch_held;
VOUCH_WHOLE void vouch_reserve(int held)
{
    vouch_held = held;
}
VOUCH_WHOLE unsigned vouch_store_exclusive(volatile void *at, unsigned long long value, unsigned bytes)
{
    vouch_moment();
    unsigned stores = vouch_input("exclusive") && vouch_held;
    vouch_held = 0;
    if (stores)
        __builtin_memcpy((void *)at, &value, bytes);
    return !stores;
}
