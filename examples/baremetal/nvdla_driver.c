#include "nvdla_driver.h"

#define MOST_POLLS 1000000u

static int poll(const struct nvdla_board* board, const struct nvdla_step* step)
{
    unsigned tries;
    for (tries = 0; tries < MOST_POLLS; ++tries)
        if ((board->read(board->platform, step->address) & step->mask) == step->value) return 1;
    return 0;
}

size_t nvdla_run(const struct nvdla_board* board, const struct nvdla_step* program, size_t steps)
{
    uint32_t seen = 0;
    size_t i;
    for (i = 0; i < steps; ++i) {
        const struct nvdla_step* step = &program[i]; /* a status bit reads what has happened, a written 1 clears it */
        switch (step->kind) {
            case NVDLA_WRITE:
                board->write(board->platform, step->address, step->value);
                break;
            case NVDLA_POLL:
                if (!poll(board, step)) return i + 1;
                break;
            case NVDLA_WAIT:
                board->wait_for_interrupt(board->platform, 1);
                board->write(board->platform, step->address, 0xffffffffu);
                board->wait_for_interrupt(board->platform, 0);
                break;
            case NVDLA_WAIT_BITS:
                while ((seen & step->mask) != step->mask) {
                    uint32_t status;
                    board->wait_for_interrupt(board->platform, 1);
                    status = board->read(board->platform, step->address);
                    board->write(board->platform, step->address, status);
                    seen |= status;
                }
                seen &= ~step->mask;
                break;
        }
    }
    return 0;
}

uint32_t nvdla_crc32(uint32_t crc, const uint8_t* data, size_t bytes)
{
    size_t i;
    int bit;
    crc = ~crc;
    for (i = 0; i < bytes; ++i) {
        crc ^= data[i];
        for (bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1u ? 0xedb88320u : 0u);
    }
    return ~crc;
}
