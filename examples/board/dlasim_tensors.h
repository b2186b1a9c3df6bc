/* Tensors of the files that `dlasim export --form nvdla` writes, for callers: from numbers to the bytes of an input, and back from those of
 * an output. The layout of a tensor is in the manifest (NAME.json). Portable C99, no allocation, no library but libm.
 *
 *   features   a place of (y, x) is an atom of channels; atoms of the next channels are a surface further on
 *   pixels     components of a place are neighbours
 */
#ifndef DLASIM_TENSORS_H
#define DLASIM_TENSORS_H
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct {
    uint32_t channels, height, width;
    uint32_t atom_bytes;              /* of features; 0: pixels */
    uint32_t components;              /* of pixels: 1 or 4 */
    size_t line_stride, surface_stride, bytes;
    float scale;                      /* an int8 q stands for (q - zero_point) * scale */
    int32_t zero_point;
} dlasim_tensor;

/* Where an int8 is, in bytes from the start of the memory. */
static inline size_t dlasim_offset(const dlasim_tensor* t, uint32_t c, uint32_t y, uint32_t x)
{
    if (t->atom_bytes == 0) return y * t->line_stride + (size_t)x * t->components + c;
    return c / t->atom_bytes * t->surface_stride + y * t->line_stride + (size_t)x * t->atom_bytes + c % t->atom_bytes;
}

/* To the nearest integer of the grid, ties to even; NaN is -128. */
static inline int8_t dlasim_quantise(const dlasim_tensor* t, float value)
{
    const float q = rintf(value / t->scale) + (float)t->zero_point;
    return !(q > -128.0f) ? -128 : q > 127.0f ? 127 : (int8_t)q;
}

/* What an integer of an output stands for. */
static inline float dlasim_real(const dlasim_tensor* t, int8_t q) { return (float)(q - t->zero_point) * t->scale; }

/* numbers[channels][height][width] to the memory of an input; what is no channel becomes 0. */
static inline void dlasim_write_input(const dlasim_tensor* t, const float* numbers, uint8_t* memory)
{
    memset(memory, 0, t->bytes);
    for (uint32_t c = 0; c < t->channels; ++c)
        for (uint32_t y = 0; y < t->height; ++y)
            for (uint32_t x = 0; x < t->width; ++x)
                memory[dlasim_offset(t, c, y, x)] =
                    (uint8_t)dlasim_quantise(t, numbers[((size_t)c * t->height + y) * t->width + x]);
}

/* The same of bytes of an image [height][width][channels]: (v - mean[c]) / norm[c] of each. */
static inline void dlasim_write_image(const dlasim_tensor* t, const uint8_t* image, const float* mean, const float* norm, uint8_t* memory)
{
    memset(memory, 0, t->bytes);
    for (uint32_t y = 0; y < t->height; ++y)
        for (uint32_t x = 0; x < t->width; ++x)
            for (uint32_t c = 0; c < t->channels; ++c)
                memory[dlasim_offset(t, c, y, x)] =
                    (uint8_t)dlasim_quantise(t, ((float)image[((size_t)y * t->width + x) * t->channels + c] - mean[c]) / norm[c]);
}

/* The integers of an output, [channels][height][width]. */
static inline void dlasim_read_integers(const dlasim_tensor* t, const uint8_t* memory, int8_t* integers)
{
    for (uint32_t c = 0; c < t->channels; ++c)
        for (uint32_t y = 0; y < t->height; ++y)
            for (uint32_t x = 0; x < t->width; ++x)
                integers[((size_t)c * t->height + y) * t->width + x] = (int8_t)memory[dlasim_offset(t, c, y, x)];
}

/* The numbers that they stand for. */
static inline void dlasim_read_output(const dlasim_tensor* t, const uint8_t* memory, float* numbers)
{
    for (uint32_t c = 0; c < t->channels; ++c)
        for (uint32_t y = 0; y < t->height; ++y)
            for (uint32_t x = 0; x < t->width; ++x)
                numbers[((size_t)c * t->height + y) * t->width + x] = dlasim_real(t, (int8_t)memory[dlasim_offset(t, c, y, x)]);
}

/* Steps of the caller ("cpu" of the manifest), on integers [channels][height][width]. */

/* upsample: every element factor_y * factor_x times. */
static inline void dlasim_upsample(const int8_t* in, uint32_t channels, uint32_t height, uint32_t width, uint32_t factor_y,
                                   uint32_t factor_x, int8_t* out)
{
    for (uint32_t c = 0; c < channels; ++c)
        for (uint32_t y = 0; y < height * factor_y; ++y)
            for (uint32_t x = 0; x < width * factor_x; ++x)
                *out++ = in[((size_t)c * height + y / factor_y) * width + x / factor_x];
}

/* softmax over the channels of one place, as real numbers. */
static inline void dlasim_softmax(const dlasim_tensor* t, const int8_t* in, float* out)
{
    float sum = 0, most = dlasim_real(t, -128);
    for (uint32_t c = 0; c < t->channels; ++c) most = fmaxf(most, dlasim_real(t, in[c]));
    for (uint32_t c = 0; c < t->channels; ++c) sum += out[c] = expf(dlasim_real(t, in[c]) - most);
    for (uint32_t c = 0; c < t->channels; ++c) out[c] /= sum;
}

#endif
