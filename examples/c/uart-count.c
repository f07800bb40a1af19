/*
 * Bytes of a UART: an interrupt puts them into a ring, the main loop takes them out, and both count how many there are. Counting
 * down is a read and a write, and the interrupt may come in between: only the masked section saves the byte that it counts.
 *
 * vouch check examples/c/uart-count.c --entry step --loop --interrupt USART1_IRQHandler --checks bounds --engine explicit
 */
#include <stdint.h>
#include "vouch.h"

#define USART1_DR (*(volatile uint32_t *)0x40013804)
#define SIZE 4u

void __disable_irq(void);
void __enable_irq(void);

static struct {
    volatile uint8_t data[SIZE];
    volatile uint8_t head, tail, count;
} ring;

void USART1_IRQHandler(void)
{
    uint8_t byte = (uint8_t)USART1_DR;

    if (ring.count == SIZE)
        return;
    ring.data[ring.head] = byte;
    ring.head = (uint8_t)((ring.head + 1u) % SIZE);
    ring.count++;
}

static int take(void)
{
    int byte;

    if (ring.count == 0)
        return -1;
    byte = ring.data[ring.tail];
    ring.tail = (uint8_t)((ring.tail + 1u) % SIZE);
    __disable_irq();
    ring.count--;
    __enable_irq();
    return byte;
}

void step(void)
{
    take();
    __disable_irq();
    VOUCH_ASSERT_NAMED("count_agrees", (uint8_t)(ring.head - ring.tail) % SIZE == ring.count % SIZE);
    __enable_irq();
}
