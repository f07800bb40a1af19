/* Without interrupts nothing comes, whether they are enabled or not. */
unsigned long long vouch_masked, vouch_level;
unsigned vouch_held;
VOUCH_WHOLE void vouch_moment(void)
{
}
