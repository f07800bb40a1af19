//! What the name of a function tells that is declared only, and does more than change what it is given: kernels mask interrupts and
//! let other tasks run, drivers hand buffers on to hardware. A name is no proof, so what follows from it is looked at in addition.

/// How a function may change which interrupts are disabled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Masks {
    /// The one that it is given, in the interrupt controller.
    One { disables: bool },
    /// All of them, or those up to some priority.
    All { disables: bool },
}

/// A name without what compilers and several units add to it.
fn plain(name: &str) -> &str {
    name.split('@').next().unwrap_or(name).trim_start_matches('_')
}

/// Whether a function may disable or enable interrupts. One of which it is not clear which is taken to enable them: then all
/// is looked at that handlers may do.
pub fn masks(name: &str) -> Option<Masks> {
    let plain = plain(name);
    let lower = plain.to_ascii_lowercase();
    let has = |parts: &[&str]| parts.iter().any(|part| lower.contains(part));
    let enables =
        has(&["enable", "exit", "unlock", "unmask", "clear", "restore", "leave", "release"]);
    let disables = has(&["disable", "enter", "lock", "mask", "raise", "save", "suspend"]);
    let is_alone = matches!(plain, "cli" | "DINT" | "splhigh" | "sei" | "EINT" | "splx");
    let disables = disables && !enables || matches!(plain, "cli" | "DINT" | "splhigh");
    if ["NVIC_", "HAL_NVIC_", "GIC_"].iter().any(|prefix| plain.starts_with(prefix)) {
        return is_of_controller(name).then_some(Masks::One { disables });
    }
    let is_one = has(&["irq", "interrupt", "critical", "primask", "basepri", "faultmask"]);
    let is_handler = has(&["handler", "callback"]);
    (is_alone || is_one && !is_handler).then_some(Masks::All { disables })
}

/// Whether a function has the interrupt controller disable or enable one interrupt, also if there is a body: what that writes is
/// a device's.
pub fn is_of_controller(name: &str) -> bool {
    let plain = plain(name);
    let plain = plain.strip_prefix("HAL_").unwrap_or(plain);
    matches!(plain, "NVIC_DisableIRQ" | "NVIC_EnableIRQ" | "GIC_DisableIRQ" | "GIC_EnableIRQ")
}

/// Whether a function lets other tasks run before it returns.
pub fn lets_others_run(name: &str) -> bool {
    const NAMES: [&str; 56] = [
        "vTaskDelay",
        "vTaskDelayUntil",
        "xTaskDelayUntil",
        "vTaskSuspend",
        "vPortYield",
        "taskYIELD",
        "portYIELD",
        "xTaskResumeAll",
        "xQueueReceive",
        "xQueuePeek",
        "xQueueSend",
        "xQueueSendToBack",
        "xQueueSendToFront",
        "xSemaphoreTake",
        "xSemaphoreTakeRecursive",
        "xEventGroupSync",
        "xMessageBufferSend",
        "xQueueGenericSend",
        "xQueueGenericReceive",
        "xQueueSemaphoreTake",
        "xQueueTakeMutexRecursive",
        "xTaskNotifyWait",
        "xTaskGenericNotifyWait",
        "ulTaskNotifyTake",
        "ulTaskGenericNotifyTake",
        "xEventGroupWaitBits",
        "xStreamBufferReceive",
        "xStreamBufferSend",
        "xMessageBufferReceive",
        "osThreadYield",
        "osSemaphoreAcquire",
        "osSemaphoreWait",
        "osMutexAcquire",
        "osMutexWait",
        "osMessageGet",
        "osSignalWait",
        "osEventFlagsWait",
        "osThreadFlagsWait",
        "k_yield",
        "k_poll",
        "k_sem_take",
        "k_mutex_lock",
        "k_msgq_get",
        "k_msgq_put",
        "k_queue_get",
        "k_event_wait",
        "tx_thread_relinquish",
        "tx_queue_receive",
        "tx_semaphore_get",
        "tx_mutex_get",
        "tx_event_flags_get",
        "OSSemPend",
        "OSQPend",
        "OSMboxPend",
        "OSFlagPend",
        "sched_yield",
    ];
    // `osDelayUntil`, `k_msleep`, `tx_thread_sleep`, `OSTimeDlyHMSM`, `chThdSleepMilliseconds`, `rt_thread_mdelay`.
    let kernels = ["os", "OS", "k_", "tx_", "rt_thread_", "ch", "vTask", "xTask"];
    let is_kernels = kernels.iter().any(|kernel| name.starts_with(kernel));
    let lower = name.to_ascii_lowercase();
    let sleeps = ["delay", "sleep", "dly"].iter().any(|part| lower.contains(part));
    let is_message = name.starts_with("osMessageQueue");
    NAMES.contains(&name) || is_kernels && sleeps || is_message
}

/// Whether a function hands what it is given on to hardware or to handlers of interrupts, which use it after it has returned:
/// `HAL_UART_Receive_DMA()`, `HAL_ADC_Start_IT()`, `dma_start()`, and not `HAL_UART_Transmit_DMA()`, which only reads.
pub fn keeps_buffers(name: &str) -> bool {
    let says = |part: &str| name.contains(part);
    let only_reads = says("HAL_") && (says("Transmit") || says("Write"));
    if only_reads && !says("Receive") && !says("Read") {
        return false;
    }
    let is_dma = name.split('_').any(|word| word.eq_ignore_ascii_case("dma"));
    is_dma || says("DMA") || name.ends_with("_IT") || name.ends_with("_it")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_who_masks_interrupts() {
        let disabling = "vPortEnterCritical taskENTER_CRITICAL portDISABLE_INTERRUPTS ulPortRaiseBASEPRI irq_lock \
                         ulSetInterruptMask DINT cli";
        for name in disabling.split_whitespace() {
            assert_eq!(masks(name), Some(Masks::All { disables: true }), "{name}");
        }
        let others = "vPortExitCritical portENABLE_INTERRUPTS irq_unlock vClearInterruptMask sei \
                      __set_interrupt_state uart_irq_config@b.c";
        for name in others.split_whitespace() {
            assert_eq!(masks(name), Some(Masks::All { disables: false }), "{name}");
        }
        for (name, disables) in [
            ("NVIC_DisableIRQ", true),
            ("__NVIC_EnableIRQ@a.c", false),
            ("HAL_NVIC_DisableIRQ", true),
        ] {
            assert_eq!(masks(name), Some(Masks::One { disables }), "{name}");
            assert!(is_of_controller(name));
        }
        for name in ["HAL_GPIO_WritePin", "NVIC_SetPriority", "HAL_TIM_IRQHandler", "clip", "led"] {
            assert_eq!(masks(name), None, "{name}");
        }
    }

    #[test]
    fn names_tell_who_lets_others_run() {
        for name in [
            "vTaskDelay",
            "osDelay",
            "k_msleep",
            "OSTimeDlyHMSM",
            "xQueueReceive",
            "xSemaphoreTake",
        ] {
            assert!(lets_others_run(name), "{name}");
        }
        for name in ["HAL_Delay", "xQueueSendFromISR", "delay_us", "choose", "os_init"] {
            assert!(!lets_others_run(name), "{name}");
        }
    }

    #[test]
    fn names_tell_who_keeps_buffers() {
        for name in ["HAL_UART_Receive_DMA", "HAL_SPI_TransmitReceive_IT", "dma_start", "startDMA"]
        {
            assert!(keeps_buffers(name), "{name}");
        }
        for name in ["HAL_UART_Receive", "HAL_SPI_Transmit_DMA", "WAIT", "submit"] {
            assert!(!keeps_buffers(name), "{name}");
        }
    }
}
