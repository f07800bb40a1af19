/* Exclusive accesses, by the names that CMSIS and compilers have for them: a store stores if no handler has run since the load, and if
   the run says that it does. */
void vouch_reserve(int held);
unsigned vouch_store_exclusive(volatile void *at, unsigned long long value, unsigned bytes);
#define VOUCH_LOAD(ty, at) ({ vouch_reserve(1); *(volatile ty *)(at); })
#define VOUCH_STORE(ty, value, at) vouch_store_exclusive((at), (ty)(value), sizeof(ty))
