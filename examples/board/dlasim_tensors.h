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
    uint32_t atom_bytes; /* of features; 0: pixels */
    uint32_t components; /* of pixels: 1 or 4 */
    size_t line_stride, surface_stride, bytes;
    double scale; /* an int8 q represents (q - zero_point) * scale */
    int32_t zero_point;
    const uint32_t (*pieces)[3]; /* "pieces": first channel, channels, where they are; none: one after the other */
    uint32_t piece_count;
} dlasim_tensor;

/* Where a channel is, counted in channels. */
static inline uint32_t dlasim_channel(const dlasim_tensor* t, uint32_t c)
{
    for (uint32_t i = 0; i < t->piece_count; ++i)
        if (c >= t->pieces[i][0] && c - t->pieces[i][0] < t->pieces[i][1]) return c - t->pieces[i][0] + t->pieces[i][2];
    return c;
}

/* Where an int8 is, in bytes from the start of the memory. */
static inline size_t dlasim_offset(const dlasim_tensor* t, uint32_t c, uint32_t y, uint32_t x)
{
    if (t->atom_bytes == 0) return y * t->line_stride + (size_t)x * t->components + c;
    c = dlasim_channel(t, c);
    return c / t->atom_bytes * t->surface_stride + y * t->line_stride + (size_t)x * t->atom_bytes + c % t->atom_bytes;
}

/* To the nearest integer of the grid, ties to even; NaN is -128. */
static inline int8_t dlasim_quantise(const dlasim_tensor* t, double value)
{
    const double q = rint(value / t->scale) + t->zero_point;
    return !(q > -128.0) ? -128 : q > 127.0 ? 127 : (int8_t)q;
}

/* The number that an integer of an output represents. */
static inline double dlasim_real(const dlasim_tensor* t, int8_t q) { return (q - t->zero_point) * t->scale; }

/* The same of a number of an input, divided as float: QuantizeLinear of ONNX. */
static inline int8_t dlasim_quantise_input(const dlasim_tensor* t, double value)
{
    const float steps = (float)value / (float)t->scale;
    const double q = rint((double)steps) + t->zero_point;
    return !(q > -128.0) ? -128 : q > 127.0 ? 127 : (int8_t)q;
}

/* numbers[channels][height][width] to the memory of an input; what is no channel becomes 0. */
static inline void dlasim_write_input(const dlasim_tensor* t, const float* numbers, uint8_t* memory)
{
    memset(memory, 0, t->bytes);
    for (uint32_t c = 0; c < t->channels; ++c)
        for (uint32_t y = 0; y < t->height; ++y)
            for (uint32_t x = 0; x < t->width; ++x)
                memory[dlasim_offset(t, c, y, x)] =
                    (uint8_t)dlasim_quantise_input(t, (double)numbers[((size_t)c * t->height + y) * t->width + x]);
}

/* "preprocessing" of the manifest: from the bytes of a picture to numbers. Decoding a file is the caller's own. */
typedef struct {
    int bgr;                 /* "colours" is bgr */
    double mean[3], norm[3]; /* of channels as the model has them */
} dlasim_pixels;

/* A picture [height][width][channels], grey or red, green, blue, to the memory of an input: (byte - mean) / norm. */
static inline void dlasim_write_image(const dlasim_tensor* t, const dlasim_pixels* p, const uint8_t* picture, uint8_t* memory)
{
    memset(memory, 0, t->bytes);
    for (uint32_t y = 0; y < t->height; ++y)
        for (uint32_t x = 0; x < t->width; ++x)
            for (uint32_t c = 0; c < t->channels; ++c) {
                const uint8_t byte = picture[((size_t)y * t->width + x) * t->channels + (p->bgr ? t->channels - 1 - c : c)];
                memory[dlasim_offset(t, c, y, x)] = (uint8_t)dlasim_quantise_input(t, (byte - p->mean[c]) / p->norm[c]);
            }
}

/* A size of a picture: of pixels with neighbouring components. */
typedef struct {
    uint32_t width, height, components;
} dlasim_picture;

/* A line of `from` elements that are `step` bytes apart to one of `to`: the filter of "resize". */
static inline void dlasim_resize_line(const uint8_t* line, uint32_t from, size_t step, uint8_t* out, uint32_t to)
{
    const double scale = (double)from / to, reach = fmax(scale, 1.0);
    for (uint32_t i = 0; i < to; ++i) {
        const double centre = (i + 0.5) * scale;
        const uint32_t begin = (uint32_t)fmax(centre - reach + 0.5, 0.0), end = (uint32_t)fmin(centre + reach + 0.5, from);
        double all = 0;
        int64_t sum = 1 << 21;
        for (uint32_t x = begin; x < end; ++x) all += fmax(1 - fabs((x - centre + 0.5) * (1 / reach)), 0.0);
        for (uint32_t x = begin; x < end; ++x) {
            const double weight = fmax(1 - fabs((x - centre + 0.5) * (1 / reach)), 0.0) / all;
            sum += line[x * step] * (int64_t)(0.5 + weight * (1 << 22));
        }
        out[i * step] = (uint8_t)(sum >> 22 > 255 ? 255 : sum >> 22);
    }
}

/* resize: first the width, then the height. `between` holds to_width * height * components bytes, `out` those of the new size. */
static inline void dlasim_resize(const dlasim_picture* p, const uint8_t* picture, uint32_t to_width, uint32_t to_height, uint8_t* between,
                                 uint8_t* out)
{
    const size_t n = p->components, row = n * p->width, new_row = n * to_width;
    for (uint32_t y = 0; y < p->height; ++y)
        for (size_t c = 0; c < n; ++c) dlasim_resize_line(picture + y * row + c, p->width, n, between + y * new_row + c, to_width);
    for (size_t x = 0; x < new_row; ++x) dlasim_resize_line(between + x, p->height, new_row, out + x, to_height);
}

/* crop: the middle of a picture; half of what is cut off goes to the left and to the top, to the nearest even whole number. */
static inline void dlasim_crop(const dlasim_picture* p, const uint8_t* picture, uint32_t to_width, uint32_t to_height, uint8_t* out)
{
    const size_t left = (size_t)rint((p->width - to_width) / 2.0), top = (size_t)rint((p->height - to_height) / 2.0);
    for (uint32_t y = 0; y < to_height; ++y)
        memcpy(out + (size_t)y * to_width * p->components, picture + ((top + y) * p->width + left) * p->components,
               (size_t)to_width * p->components);
}

/* The integers of an output, [channels][height][width]. */
static inline void dlasim_read_integers(const dlasim_tensor* t, const uint8_t* memory, int8_t* integers)
{
    for (uint32_t c = 0; c < t->channels; ++c)
        for (uint32_t y = 0; y < t->height; ++y)
            for (uint32_t x = 0; x < t->width; ++x)
                integers[((size_t)c * t->height + y) * t->width + x] = (int8_t)memory[dlasim_offset(t, c, y, x)];
}

/* The numbers that they represent. */
static inline void dlasim_read_output(const dlasim_tensor* t, const uint8_t* memory, float* numbers)
{
    for (uint32_t c = 0; c < t->channels; ++c)
        for (uint32_t y = 0; y < t->height; ++y)
            for (uint32_t x = 0; x < t->width; ++x)
                numbers[((size_t)c * t->height + y) * t->width + x] = (float)dlasim_real(t, (int8_t)memory[dlasim_offset(t, c, y, x)]);
}

/* Steps of the caller ("cpu" of the manifest), on integers [channels][height][width]. */

/* upsample: every element factor_y * factor_x times, every channel `copies` times. */
static inline void dlasim_upsample(const int8_t* in, uint32_t channels, uint32_t height, uint32_t width, uint32_t factor_y,
                                   uint32_t factor_x, uint32_t copies, int8_t* out)
{
    for (uint32_t c = 0; c < channels * copies; ++c)
        for (uint32_t y = 0; y < height * factor_y; ++y)
            for (uint32_t x = 0; x < width * factor_x; ++x)
                *out++ = in[((size_t)(c / copies) * height + y / factor_y) * width + x / factor_x];
}

/* concat: elements of one part, from element `at` of the whole on. Returns where the next part begins. All have the same scale. */
static inline size_t dlasim_concat(const int8_t* part, size_t elements, int8_t* whole, size_t at)
{
    memcpy(whole + at, part, elements);
    return at + elements;
}

/* reshape: element i is from[i] of the input; a negative one is `fill`, a real number. */
static inline void dlasim_reshape(const dlasim_tensor* to, const int8_t* in, const int32_t* from, size_t elements, double fill, int8_t* out)
{
    for (size_t i = 0; i < elements; ++i) out[i] = from[i] < 0 ? dlasim_quantise(to, fill) : in[from[i]];
}

/* "function" of the manifest, with its alpha and beta; of an unknown name x itself. */
static inline double dlasim_function(const char* name, double alpha, double beta, double x)
{
    const double softplus = x > 30 ? x : log1p(exp(x));
    if (!strcmp(name, "sigmoid")) return 1 / (1 + exp(-x));
    if (!strcmp(name, "tanh")) return tanh(x);
    if (!strcmp(name, "elu")) return x < 0 ? alpha * expm1(x) : x;
    if (!strcmp(name, "selu")) return beta * (x > 0 ? x : alpha * expm1(x));
    if (!strcmp(name, "softplus")) return softplus;
    if (!strcmp(name, "softsign")) return x / (1 + fabs(x));
    if (!strcmp(name, "hard_sigmoid")) return fmin(fmax(alpha * x + beta, 0.0), 1.0);
    if (!strcmp(name, "hard_swish")) return x * fmin(fmax(x / 6 + 0.5, 0.0), 1.0);
    if (!strcmp(name, "exp")) return exp(x);
    if (!strcmp(name, "log")) return log(x);
    if (!strcmp(name, "sqrt")) return sqrt(x);
    if (!strcmp(name, "abs")) return fabs(x);
    if (!strcmp(name, "reciprocal")) return alpha / x;
    if (!strcmp(name, "erf")) return erf(x);
    if (!strcmp(name, "power")) return pow(x, alpha);
    if (!strcmp(name, "gelu")) return x * 0.5 * (1 + erf(x / sqrt(2.0)));
    if (!strcmp(name, "gelu_tanh")) return x * 0.5 * (1 + tanh(sqrt(2 / acos(-1.0)) * (x + 0.044715 * x * x * x)));
    if (!strcmp(name, "mish")) return x * tanh(softplus);
    return x;
}

/* function: of every element by itself. */
static inline void dlasim_apply(const dlasim_tensor* from, const dlasim_tensor* to, const char* name, double alpha, double beta,
                                const int8_t* in, size_t elements, int8_t* out)
{
    int8_t table[256];
    for (int i = 0; i < 256; ++i) table[i] = dlasim_quantise(to, dlasim_function(name, alpha, beta, dlasim_real(from, (int8_t)(i - 128))));
    for (size_t i = 0; i < elements; ++i) out[i] = table[in[i] + 128];
}

/* pool. `average` divides by the elements of the window, of padding too if `padding_counts`; else the largest element, or with
 * `least` the smallest. */
typedef struct {
    int average, least, padding_counts;
    uint32_t kernel_y, kernel_x, stride_y, stride_x, pad_y, pad_x;
} dlasim_window;

static inline void dlasim_pool(const dlasim_tensor* from, const dlasim_tensor* to, const dlasim_window* w, const int8_t* in, int8_t* out)
{
    for (uint32_t c = 0; c < to->channels; ++c)
        for (uint32_t oy = 0; oy < to->height; ++oy)
            for (uint32_t ox = 0; ox < to->width; ++ox) {
                int64_t sum = 0, inside = 0;
                int8_t best = w->least ? 127 : -128;
                for (uint32_t ky = 0; ky < w->kernel_y; ++ky)
                    for (uint32_t kx = 0; kx < w->kernel_x; ++kx) {
                        const int64_t y = (int64_t)oy * w->stride_y + ky - w->pad_y, x = (int64_t)ox * w->stride_x + kx - w->pad_x;
                        if (y < 0 || x < 0 || y >= from->height || x >= from->width) continue;
                        const int8_t q = in[((size_t)c * from->height + (size_t)y) * from->width + (size_t)x];
                        sum += q - from->zero_point;
                        ++inside;
                        if (w->least ? q < best : q > best) best = q;
                    }
                const int64_t count = w->padding_counts ? (int64_t)w->kernel_y * w->kernel_x : inside;
                *out++ = w->average ? dlasim_quantise(to, (double)sum / (double)count * from->scale) : best;
            }
}

/* softmax over the channels of one place, as real numbers. */
static inline void dlasim_softmax(const dlasim_tensor* t, const int8_t* in, float* out)
{
    double sum = 0, most = dlasim_real(t, -128);
    for (uint32_t c = 0; c < t->channels; ++c) most = fmax(most, dlasim_real(t, in[c]));
    for (uint32_t c = 0; c < t->channels; ++c) sum += exp(dlasim_real(t, in[c]) - most);
    for (uint32_t c = 0; c < t->channels; ++c) out[c] = (float)(exp(dlasim_real(t, in[c]) - most) / sum);
}

/* Last steps of a model ("numbers": "real"), on the numbers of dlasim_read_output or of the step before. */

/* softmax: over the channels of each of `places`. */
static inline void dlasim_softmax_real(const float* in, uint32_t channels, size_t places, int logarithm, float* out)
{
    for (size_t p = 0; p < places; ++p) {
        float most = in[p];
        double sum = 0;
        for (size_t i = p; i < channels * places; i += places) most = in[i] > most ? in[i] : most;
        for (size_t i = p; i < channels * places; i += places) sum += exp((double)in[i] - (double)most);
        for (size_t i = p; i < channels * places; i += places) {
            const double x = (double)in[i] - (double)most;
            out[i] = (float)(logarithm ? x - log(sum) : exp(x) / sum);
        }
    }
}

/* function, reshape */
static inline void dlasim_apply_real(const char* name, double alpha, double beta, const float* in, size_t elements, float* out)
{
    for (size_t i = 0; i < elements; ++i) out[i] = (float)dlasim_function(name, alpha, beta, in[i]);
}

static inline void dlasim_reshape_real(const float* in, const int32_t* from, size_t elements, double fill, float* out)
{
    for (size_t i = 0; i < elements; ++i) out[i] = from[i] < 0 ? (float)fill : in[from[i]];
}

/* fp16: the same on patterns of 16 bits. `scale` and `zero_point` of the tensors are not used. */

/* The nearest fp16, ties to even, at most 65504. */
static inline uint16_t dlasim_half(double value)
{
    const uint16_t sign = signbit(value) ? 0x8000 : 0;
    const double magnitude = fmin(fabs(value), 65504.0);
    int exponent = 0;
    if (isnan(value)) return 0x7e00;
    frexp(magnitude, &exponent);
    if (magnitude == 0 || exponent < -13) return (uint16_t)(sign | (uint16_t)rint(ldexp(magnitude, 24)));
    return (uint16_t)(sign + (uint16_t)((exponent + 13) << 10) + (uint16_t)rint(ldexp(magnitude, 11 - exponent)));
}

static inline double dlasim_half_real(uint16_t half)
{
    const int exponent = half >> 10 & 31, mantissa = half & 1023;
    const double magnitude = exponent == 31  ? (mantissa ? NAN : INFINITY)
                             : exponent == 0 ? ldexp(mantissa, -24)
                                             : ldexp(mantissa + 1024, exponent - 25);
    return half & 0x8000 ? -magnitude : magnitude;
}

static inline size_t dlasim_half_offset(const dlasim_tensor* t, uint32_t c, uint32_t y, uint32_t x)
{
    const uint32_t channels = t->atom_bytes / 2;
    if (channels == 0) return y * t->line_stride + 2 * ((size_t)x * t->components + c);
    c = dlasim_channel(t, c);
    return c / channels * t->surface_stride + y * t->line_stride + (size_t)x * t->atom_bytes + 2 * (c % channels);
}

static inline void dlasim_put_half(const dlasim_tensor* t, uint32_t c, uint32_t y, uint32_t x, uint16_t half, uint8_t* memory)
{
    const size_t at = dlasim_half_offset(t, c, y, x);
    memory[at] = (uint8_t)half;
    memory[at + 1] = (uint8_t)(half >> 8);
}

static inline void dlasim_write_input_half(const dlasim_tensor* t, const float* numbers, uint8_t* memory)
{
    memset(memory, 0, t->bytes);
    for (uint32_t c = 0; c < t->channels; ++c)
        for (uint32_t y = 0; y < t->height; ++y)
            for (uint32_t x = 0; x < t->width; ++x)
                dlasim_put_half(t, c, y, x, dlasim_half((double)numbers[((size_t)c * t->height + y) * t->width + x]), memory);
}

static inline void dlasim_write_image_half(const dlasim_tensor* t, const dlasim_pixels* p, const uint8_t* picture, uint8_t* memory)
{
    memset(memory, 0, t->bytes);
    for (uint32_t y = 0; y < t->height; ++y)
        for (uint32_t x = 0; x < t->width; ++x)
            for (uint32_t c = 0; c < t->channels; ++c) {
                const uint8_t byte = picture[((size_t)y * t->width + x) * t->channels + (p->bgr ? t->channels - 1 - c : c)];
                dlasim_put_half(t, c, y, x, dlasim_half((byte - p->mean[c]) / p->norm[c]), memory);
            }
}

/* The patterns of an output, [channels][height][width]. */
static inline void dlasim_read_halves(const dlasim_tensor* t, const uint8_t* memory, uint16_t* halves)
{
    for (uint32_t c = 0; c < t->channels; ++c)
        for (uint32_t y = 0; y < t->height; ++y)
            for (uint32_t x = 0; x < t->width; ++x) {
                const size_t at = dlasim_half_offset(t, c, y, x);
                *halves++ = (uint16_t)(memory[at] | memory[at + 1] << 8);
            }
}

static inline void dlasim_upsample_half(const uint16_t* in, uint32_t channels, uint32_t height, uint32_t width, uint32_t factor_y,
                                        uint32_t factor_x, uint32_t copies, uint16_t* out)
{
    for (uint32_t c = 0; c < channels * copies; ++c)
        for (uint32_t y = 0; y < height * factor_y; ++y)
            for (uint32_t x = 0; x < width * factor_x; ++x)
                *out++ = in[((size_t)(c / copies) * height + y / factor_y) * width + x / factor_x];
}

static inline size_t dlasim_concat_half(const uint16_t* part, size_t elements, uint16_t* whole, size_t at)
{
    memcpy(whole + at, part, elements * sizeof *part);
    return at + elements;
}

static inline void dlasim_reshape_half(const uint16_t* in, const int32_t* from, size_t elements, double fill, uint16_t* out)
{
    for (size_t i = 0; i < elements; ++i) out[i] = from[i] < 0 ? dlasim_half(fill) : in[from[i]];
}

static inline void dlasim_apply_half(const char* name, double alpha, double beta, const uint16_t* in, size_t elements, uint16_t* out)
{
    for (size_t i = 0; i < elements; ++i) out[i] = dlasim_half(dlasim_function(name, alpha, beta, dlasim_half_real(in[i])));
}

static inline void dlasim_pool_half(const dlasim_tensor* from, const dlasim_tensor* to, const dlasim_window* w, const uint16_t* in,
                                    uint16_t* out)
{
    for (uint32_t c = 0; c < to->channels; ++c)
        for (uint32_t oy = 0; oy < to->height; ++oy)
            for (uint32_t ox = 0; ox < to->width; ++ox) {
                double sum = 0, most = -INFINITY, least = INFINITY;
                uint32_t inside = 0;
                for (uint32_t ky = 0; ky < w->kernel_y; ++ky)
                    for (uint32_t kx = 0; kx < w->kernel_x; ++kx) {
                        const int64_t y = (int64_t)oy * w->stride_y + ky - w->pad_y, x = (int64_t)ox * w->stride_x + kx - w->pad_x;
                        if (y < 0 || x < 0 || y >= from->height || x >= from->width) continue;
                        const double value = dlasim_half_real(in[((size_t)c * from->height + (size_t)y) * from->width + (size_t)x]);
                        sum += value;
                        most = fmax(most, value);
                        least = fmin(least, value);
                        ++inside;
                    }
                *out++ = dlasim_half(w->average ? sum / (w->padding_counts ? w->kernel_y * w->kernel_x : inside) : w->least ? least : most);
            }
}

#endif
