/* The model in flash: MODEL names the file. With the store it is a package and a key. */
    .syntax unified
    .section .model, "a", %progbits
    .balign 8
    .global model, model_end
model:
    .incbin MODEL
model_end:
#ifdef KEY
    .balign 4
    .global key
key:
    .incbin KEY
#endif
    .section .note.GNU-stack, "", %progbits
