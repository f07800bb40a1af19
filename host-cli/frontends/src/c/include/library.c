/*
 * What functions of the C library do, for programs that declare them and do not define them.
 *
 * Each is read only if the program uses it, under its own name or with __builtin_ before it. Where the
 * standard leaves a result open, so does this: of a comparison only the sign is certain, of isalpha()
 * only whether it is zero.
 */

void *memcpy(void *to, const void *from, unsigned long n)
{
    unsigned char *d = to;
    const unsigned char *s = from;
    while (n--)
        *d++ = *s++;
    return to;
}

void *mempcpy(void *to, const void *from, unsigned long n)
{
    unsigned char *d = to;
    const unsigned char *s = from;
    while (n--)
        *d++ = *s++;
    return d;
}

void *memmove(void *to, const void *from, unsigned long n)
{
    unsigned char *d = to;
    const unsigned char *s = from;
    if (d <= s)
        while (n--)
            *d++ = *s++;
    else
        while (n--)
            d[n] = s[n];
    return to;
}

void bcopy(const void *from, void *to, unsigned long n)
{
    unsigned char *d = to;
    const unsigned char *s = from;
    if (d <= s)
        while (n--)
            *d++ = *s++;
    else
        while (n--)
            d[n] = s[n];
}

void *memset(void *to, int value, unsigned long n)
{
    unsigned char *d = to;
    while (n--)
        *d++ = (unsigned char)value;
    return to;
}

void bzero(void *to, unsigned long n)
{
    unsigned char *d = to;
    while (n--)
        *d++ = 0;
}

int memcmp(const void *left, const void *right, unsigned long n)
{
    const unsigned char *a = left, *b = right;
    for (; n--; a++, b++)
        if (*a != *b) {
            int order = (int)__vouch_input("memcmp");
            __vouch_assume(order != 0 && (order < 0) == (*a < *b));
            return order;
        }
    return 0;
}

int bcmp(const void *left, const void *right, unsigned long n)
{
    const unsigned char *a = left, *b = right;
    for (; n--; a++, b++)
        if (*a != *b) {
            int other = (int)__vouch_input("bcmp");
            __vouch_assume(other != 0);
            return other;
        }
    return 0;
}

void *memchr(const void *in, int value, unsigned long n)
{
    const unsigned char *s = in;
    for (; n--; s++)
        if (*s == (unsigned char)value)
            return (void *)s;
    return 0;
}

unsigned long strlen(const char *text)
{
    const char *s = text;
    while (*s)
        s++;
    return s - text;
}

unsigned long strnlen(const char *text, unsigned long most)
{
    unsigned long n = 0;
    while (n < most && text[n])
        n++;
    return n;
}

char *strcpy(char *to, const char *from)
{
    char *d = to;
    while ((*d++ = *from++))
        ;
    return to;
}

char *stpcpy(char *to, const char *from)
{
    while ((*to = *from++))
        to++;
    return to;
}

char *strncpy(char *to, const char *from, unsigned long n)
{
    char *d = to;
    for (; n && *from; n--)
        *d++ = *from++;
    while (n--)
        *d++ = 0;
    return to;
}

char *strcat(char *to, const char *from)
{
    char *d = to;
    while (*d)
        d++;
    while ((*d++ = *from++))
        ;
    return to;
}

char *strncat(char *to, const char *from, unsigned long n)
{
    char *d = to;
    while (*d)
        d++;
    while (n-- && *from)
        *d++ = *from++;
    *d = 0;
    return to;
}

int strcmp(const char *left, const char *right)
{
    const unsigned char *a = (const unsigned char *)left, *b = (const unsigned char *)right;
    while (*a && *a == *b)
        a++, b++;
    if (*a == *b)
        return 0;
    int order = (int)__vouch_input("strcmp");
    __vouch_assume(order != 0 && (order < 0) == (*a < *b));
    return order;
}

int strncmp(const char *left, const char *right, unsigned long n)
{
    const unsigned char *a = (const unsigned char *)left, *b = (const unsigned char *)right;
    while (n && *a && *a == *b)
        a++, b++, n--;
    if (!n || *a == *b)
        return 0;
    int order = (int)__vouch_input("strncmp");
    __vouch_assume(order != 0 && (order < 0) == (*a < *b));
    return order;
}

char *strchr(const char *text, int c)
{
    for (; *text != (char)c; text++)
        if (!*text)
            return 0;
    return (char *)text;
}

char *index(const char *text, int c)
{
    for (; *text != (char)c; text++)
        if (!*text)
            return 0;
    return (char *)text;
}

char *strrchr(const char *text, int c)
{
    const char *last = 0;
    for (;; text++) {
        if (*text == (char)c)
            last = text;
        if (!*text)
            return (char *)last;
    }
}

char *rindex(const char *text, int c)
{
    const char *last = 0;
    for (;; text++) {
        if (*text == (char)c)
            last = text;
        if (!*text)
            return (char *)last;
    }
}

char *strstr(const char *text, const char *part)
{
    for (;; text++) {
        const char *a = text, *b = part;
        while (*b && *a == *b)
            a++, b++;
        if (!*b)
            return (char *)text;
        if (!*text)
            return 0;
    }
}

unsigned long strspn(const char *text, const char *set)
{
    unsigned long n = 0;
    for (; text[n]; n++) {
        const char *s = set;
        while (*s && *s != text[n])
            s++;
        if (!*s)
            break;
    }
    return n;
}

unsigned long strcspn(const char *text, const char *set)
{
    unsigned long n = 0;
    for (; text[n]; n++) {
        const char *s = set;
        while (*s && *s != text[n])
            s++;
        if (*s)
            break;
    }
    return n;
}

char *strpbrk(const char *text, const char *set)
{
    for (; *text; text++) {
        const char *s = set;
        while (*s && *s != *text)
            s++;
        if (*s)
            return (char *)text;
    }
    return 0;
}

/* What a format makes of its arguments is any text of a length that is possible. */
int snprintf(char *to, unsigned long n, const char *format, ...)
{
    int length = __vouch_format_length();
    unsigned long i = 0;
    if (n) {
        for (; i + 1 < n && i < (unsigned long)length; i++)
            to[i] = (char)__vouch_input("snprintf");
        to[i] = 0;
    }
    return length;
}

int vsnprintf(char *to, unsigned long n, const char *format, __builtin_va_list list)
{
    int length = __vouch_format_length();
    unsigned long i = 0;
    if (n) {
        for (; i + 1 < n && i < (unsigned long)length; i++)
            to[i] = (char)__vouch_input("vsnprintf");
        to[i] = 0;
    }
    return length;
}

int sprintf(char *to, const char *format, ...)
{
    int length = __vouch_format_length();
    int i = 0;
    for (; i < length; i++)
        to[i] = (char)__vouch_input("sprintf");
    to[i] = 0;
    return length;
}

int vsprintf(char *to, const char *format, __builtin_va_list list)
{
    int length = __vouch_format_length();
    int i = 0;
    for (; i < length; i++)
        to[i] = (char)__vouch_input("vsprintf");
    to[i] = 0;
    return length;
}

int abs(int x)
{
    return x < 0 ? -x : x;
}

long labs(long x)
{
    return x < 0 ? -x : x;
}

long long llabs(long long x)
{
    return x < 0 ? -x : x;
}

int rand(void)
{
    int any = (int)__vouch_input("rand");
    __vouch_assume(any >= 0);
    return any;
}

void srand(unsigned seed)
{
}

int atoi(const char *text)
{
    unsigned value = 0;
    int negative;
    while (*text == ' ' || *text >= '\t' && *text <= '\r')
        text++;
    negative = *text == '-';
    if (*text == '-' || *text == '+')
        text++;
    for (; *text >= '0' && *text <= '9'; text++)
        value = value * 10 + (*text - '0');
    return negative ? -value : value;
}

long atol(const char *text)
{
    unsigned long value = 0;
    int negative;
    while (*text == ' ' || *text >= '\t' && *text <= '\r')
        text++;
    negative = *text == '-';
    if (*text == '-' || *text == '+')
        text++;
    for (; *text >= '0' && *text <= '9'; text++)
        value = value * 10 + (*text - '0');
    return negative ? -value : value;
}

int isalpha(int c)
{
    int any = (int)__vouch_input("isalpha");
    __vouch_assume(!any == !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'));
    return any;
}

int isdigit(int c)
{
    int any = (int)__vouch_input("isdigit");
    __vouch_assume(!any == !(c >= '0' && c <= '9'));
    return any;
}

int isalnum(int c)
{
    int any = (int)__vouch_input("isalnum");
    __vouch_assume(!any ==
                 !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'));
    return any;
}

int isupper(int c)
{
    int any = (int)__vouch_input("isupper");
    __vouch_assume(!any == !(c >= 'A' && c <= 'Z'));
    return any;
}

int islower(int c)
{
    int any = (int)__vouch_input("islower");
    __vouch_assume(!any == !(c >= 'a' && c <= 'z'));
    return any;
}

int isspace(int c)
{
    int any = (int)__vouch_input("isspace");
    __vouch_assume(!any == !(c == ' ' || c >= '\t' && c <= '\r'));
    return any;
}

int isblank(int c)
{
    int any = (int)__vouch_input("isblank");
    __vouch_assume(!any == !(c == ' ' || c == '\t'));
    return any;
}

int iscntrl(int c)
{
    int any = (int)__vouch_input("iscntrl");
    __vouch_assume(!any == !(c >= 0 && c < ' ' || c == 127));
    return any;
}

int isprint(int c)
{
    int any = (int)__vouch_input("isprint");
    __vouch_assume(!any == !(c >= ' ' && c < 127));
    return any;
}

int isgraph(int c)
{
    int any = (int)__vouch_input("isgraph");
    __vouch_assume(!any == !(c > ' ' && c < 127));
    return any;
}

int ispunct(int c)
{
    int any = (int)__vouch_input("ispunct");
    __vouch_assume(!any == !(c > ' ' && c < '0' || c > '9' && c < 'A' || c > 'Z' && c < 'a' ||
                           c > 'z' && c < 127));
    return any;
}

int isxdigit(int c)
{
    int any = (int)__vouch_input("isxdigit");
    __vouch_assume(!any ==
                 !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'));
    return any;
}

int toupper(int c)
{
    return c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c;
}

int tolower(int c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}
