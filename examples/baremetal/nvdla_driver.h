/* A driver without an operating system: steps through a program that `dlasim export --form c` has written.
 *
 *   platform gives   three calls: write a word, read a word, wait until the interrupt pin is high
 *   program.h gives  nvdla_images (memory before), nvdla_program, nvdla_outputs (what memory must hold afterwards)
 */
#ifndef NVDLA_DRIVER_H
#define NVDLA_DRIVER_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum nvdla_kind {
    NVDLA_WRITE,    /* value to the register at address */
    NVDLA_POLL,     /* read it until (it & mask) == value */
    NVDLA_WAIT,     /* for the interrupt; all status bits are cleared, the pin falls */
    NVDLA_WAIT_BITS /* until these bits of the interrupt status were seen, each cleared when seen */
};

struct nvdla_step {
    enum nvdla_kind kind;
    uint32_t address, value, mask; /* address: bytes on the register bus; of a wait, that of GLB.S_INTR_STATUS */
};

/* Bytes of memory; port 0 is the primary one, 1 the secondary. */
struct nvdla_image {
    uint64_t address;
    uint32_t bytes;
    const uint8_t* data;
    int port;
};

struct nvdla_region {
    uint64_t address;
    uint32_t bytes, crc32;
    int port;
};

/* What the board is. `platform` is handed back to each call. */
struct nvdla_board {
    void* platform;
    void (*write)(void* platform, uint32_t address, uint32_t value);
    uint32_t (*read)(void* platform, uint32_t address);
    void (*wait_for_interrupt)(void* platform, int level); /* returns when the pin has this level */
};

/* Runs the program. 0: done; otherwise the number of the step, from 1, that never got what it polls for. */
size_t nvdla_run(const struct nvdla_board* board, const struct nvdla_step* program, size_t steps);

/* CRC-32 as zlib has it, of bytes that continue those of `crc`; begin with 0. */
uint32_t nvdla_crc32(uint32_t crc, const uint8_t* data, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
