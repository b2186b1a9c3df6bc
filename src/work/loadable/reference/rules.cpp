// What software must not do, and what registers make of what the file says.
#include <fmt/format.h>

#include <array>

#include "loadable/reference/layers.h"

namespace dlasim::loadable {

void expect(bool good, const std::string& why)
{
    if (!good) throw Unchecked{why};
}

void rule(bool good, const std::string& why)
{
    if (!good) throw Unchecked{why, true};
}

std::uint64_t Translator::held(std::uint64_t value, Field field) const
{
    const std::uint64_t atom = plan_.hardware.memory.atom_bytes;
    if (plan_.hardware.full() || field == Field::Fetched) return value / atom * atom;
    rule(field == Field::Pixels || value % atom == 0, fmt::format("has an address or a stride that is no multiple of {} bytes", atom));
    return value;
}

/// What its registers can say, and what they say twice.
void Translator::check_fields(const ConvOperation& conv) const
{
    constexpr std::uint32_t kKernel = 32, kChannels = 8192, kStride = 8, kDilation = 32, kPad = 31, kBatch = 32, kRowsTogether = 2;
    const auto one_to = [](std::uint32_t value, std::uint32_t most) { return value >= 1 && value <= most; };
    rule(one_to(conv.kernel_width, kKernel) && one_to(conv.kernel_height, kKernel) && one_to(conv.kernel_channels, kChannels),
         "has kernels larger than registers can encode");
    rule(one_to(conv.stride_x, kStride) && one_to(conv.stride_y, kStride) && one_to(conv.dilation_x, kDilation) &&
             one_to(conv.dilation_y, kDilation),
         "has a stride or a dilation that registers cannot encode");
    rule(conv.pad_left <= kPad && conv.pad_top <= kPad && one_to(conv.batch, kBatch) && conv.post_extension <= kRowsTogether,
         "has a padding, a batch or an extension that registers cannot encode");
    rule(conv.bytes_per_kernel == conv.kernel_width * conv.kernel_height * conv.kernel_channels * (conv.precision == 0 ? 1u : 2u),
         "has kernels of another size than it declares");
}

bool Translator::same_place(const Cube& cube, const Cube& before) const
{
    const auto place_in = [&](const HardwareTask& task, const Cube& of) {
        return plan_.memories->place(plan_.loadable->tasks[task.task], of.address, task.where) + of.offset;
    };
    return cube.address >= 0 && before.address >= 0 && place_in(task_, cube) == place_in(*before_.task, before) && cube.size == before.size;
}

/// Weights that are no more and no fewer than those of the kernels, to the next unit of their size.
void check_weights(const Weights& w)
{
    constexpr std::uint64_t kUnit = 128;
    const std::uint64_t needed = std::uint64_t{w.kernels} * w.channels * w.rows * w.columns * w.element_bytes;
    rule(w.compressed || (w.bytes >= needed && w.bytes - needed < kUnit),
         fmt::format("has {} bytes of weights, but its kernels {}", w.bytes, needed));
}

/// What is used again is what the file says: programming.md 4.
void Translator::check_reuse(const ConvOperation& conv) const
{
    const ConvOperation* before = before_.conv;
    if (conv.weight_reuse != 0)
        rule(before && before->skip_weight_release != 0 && same_place(conv.weights, before->weights) &&
                 conv.bytes_per_kernel == before->bytes_per_kernel && conv.destination.channels == before->destination.channels &&
                 conv.data_banks == before->data_banks && conv.weight_banks == before->weight_banks,
             "reuses weights that the previous convolution did not keep");
    if (conv.data_reuse == 0) return;
    const auto shape = [](const Cube& c) { return std::array{c.width, c.height, c.channels, c.line_stride, c.surface_stride}; };
    expect(!before || before->skip_data_release != 0 || before->released >= before->source.height,
           "reuses lines that the previous convolution kept");
    rule(before && before->skip_data_release != 0 && same_place(conv.source, before->source) &&
             shape(conv.source) == shape(before->source) && conv.format == before->format && conv.data_banks == before->data_banks,
         "reuses data that the previous convolution did not keep");
}

}  // namespace dlasim::loadable
