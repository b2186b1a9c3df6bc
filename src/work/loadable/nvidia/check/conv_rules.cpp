#include <fmt/format.h>

#include "base/bits.h"
#include "loadable/nvidia/check/checked_task.h"

namespace dlasim::loadable {
namespace {

class ConvCheck {
public:
    ConvCheck(CheckedTask& t, std::size_t i) : t_(t), hw_(t.f.hw), i_(i), o_(t.task.operations[i].conv) {}

    void run()
    {
        const std::size_t before = t_.f.refusals();
        if (!t_.precise(i_, {o_.input_precision, o_.precision})) return;
        check_codes();
        if (!t_.sized(i_, "input", o_.source) || !t_.sized(i_, "output", o_.destination)) return;
        check_output();
        check_ranges();
        if (t_.f.refusals() != before) return;
        check_buffer();
        check_weights();
        check_shapes();
        const std::uint64_t input = o_.feature() ? t_.extent(o_.source, element_bytes(o_.input_precision)) : 1;
        t_.lies(i_, "input", o_.source, input);
        Cube weights = o_.weights;
        weights.line_stride = weights.surface_stride = 0;
        t_.lies(i_, "weights", weights, o_.weight_reuse != 0 ? 0 : weights.size, hw_.full() ? hw_.memory.atom_bytes : 1);
        t_.hands_over(i_, o_.destination);
    }

private:
    void refuse(std::string problem) { t_.refuse("conv", i_, std::move(problem)); }
    bool winograd() const { return o_.mode != 0; }

    void check_codes()
    {
        const Converter& out = o_.output_converter;
        if (out.scale != 1 || out.offset != 0)
            refuse(fmt::format("has an output converter of scale {} and offset {}, expected 1 and 0: the driver refuses it", out.scale,
                               out.offset));
        if (o_.mode > 1 || (o_.mode != 0 && !hw_.winograd))
            refuse(fmt::format("has mode {}, expected {}", o_.mode, hw_.winograd ? "0 or 1" : "0"));
        if (o_.format > 36) refuse(fmt::format("has data format {}, expected 36 for features on every machine", o_.format));
        if (o_.pixel_mapping != 0) refuse(fmt::format("has pixel mapping {}, expected 0", o_.pixel_mapping));
        if (o_.batch < 1 || (o_.batch != 1 && !hw_.batch))
            refuse(fmt::format("has batch {}, expected {}", o_.batch, hw_.batch ? "1 or more" : "1"));
        if (o_.post_extension > 2) refuse(fmt::format("has post extension {}, expected 0 to 2", o_.post_extension));
    }

    void check_output()
    {
        const Cube& out = o_.destination;
        const std::uint32_t atom = hw_.memory.atom_bytes;
        if (!out.on_the_fly())
            t_.doubt("conv", i_,
                     fmt::format("has an output in memory type {}; a convolution always sends its results to SDP",
                                 static_cast<unsigned>(out.memory)));
        if (t_.consumers[i_].empty()) t_.doubt("conv", i_, "is no fused parent of an SDP, so that it does not wait for one");
        if (out.width == 1 && out.height == 1 && out.line_stride != atom)
            refuse(
                fmt::format("has an output of 1 x 1 with a line stride of {}, expected {}: the driver refuses it", out.line_stride, atom));
        const std::uint32_t most = hw_.cbuf.banks - (o_.weight_format != 0 ? 1 : 0);
        if (o_.data_banks < 1 || o_.weight_banks < 1 || o_.data_banks + std::uint32_t{o_.weight_banks} > most)
            refuse(fmt::format("has {} banks for data and {} for weights, expected at least 1 of each and {} in all", o_.data_banks,
                               o_.weight_banks, most));
    }

    void in_range(const char* name, std::uint32_t value, std::uint32_t least, std::uint32_t most)
    {
        if (value < least || value > most) refuse(fmt::format("has {} {}, expected {} to {}", name, value, least, most));
    }

    void check_ranges()
    {
        in_range("a stride in x of", o_.stride_x, 1, 8);
        in_range("a stride in y of", o_.stride_y, 1, 8);
        in_range("a dilation in x of", o_.dilation_x, 1, 32);
        in_range("a dilation in y of", o_.dilation_y, 1, 32);
        if (o_.feature()) in_range("a kernel width of", o_.kernel_width, 1, 32);
        in_range("a kernel height of", o_.kernel_height, 1, 32);
        in_range("entries per slice of", o_.entries, 1, 16384);
        in_range("a fetch grain of", o_.fetch_grain, 1, 4096);
        in_range("released lines of", o_.released, 1, 8192);
        in_range("an output width of CMAC of", o_.mac_width, 1, 8192);
        in_range("an output height of CMAC of", o_.mac_height, 1, 8192);
    }

    void check_buffer()
    {
        const std::uint64_t entries = std::uint64_t{o_.csc_height} * o_.entries * o_.batch,
                            held = std::uint64_t{o_.data_banks} * hw_.cbuf.bank_depth;
        if (entries > held && !winograd())
            refuse(fmt::format("has {} entries of data, expected at most the {} of its {} banks", entries, held, o_.data_banks));
    }

    void check_weights()
    {
        const std::uint64_t need = std::uint64_t{o_.destination.channels} * o_.bytes_per_kernel;
        if (o_.weight_format != 0) {
            if (!hw_.weight_compression) refuse("has compressed weights, which this machine cannot take");
            else if (o_.mask.address == -1 || o_.groups.address == -1) refuse("has compressed weights without mask or group sizes");
            return;
        }
        const std::uint64_t size = round_up<std::uint64_t>(need, hw_.cbuf.entry_bytes);
        if (need > o_.weights.size)
            refuse(fmt::format("has a weight cube of {} bytes, expected at least {} of its kernels", o_.weights.size, need));
        if (o_.weights.size != size && o_.weight_reuse == 0)
            refuse(fmt::format("has a weight cube of {} bytes, expected {}: {} rounded up to a multiple of {}", o_.weights.size, size, need,
                               hw_.cbuf.entry_bytes));
    }

    void check_feature_sizes()
    {
        const std::uint64_t bytes = std::uint64_t{o_.kernel_width} * o_.kernel_height * o_.kernel_channels * element_bytes(o_.precision);
        const Cube& in = o_.source;
        if (o_.bytes_per_kernel != bytes)
            refuse(fmt::format("has {} bytes per kernel, expected {} from its sizes", o_.bytes_per_kernel, bytes));
        if (o_.csc_channels != in.channels || o_.kernel_channels != in.channels)
            refuse(fmt::format("has {} channels in CSC and {} in its kernels, its input has {}", o_.csc_channels, o_.kernel_channels,
                               in.channels));
        if (o_.csc_width != in.width) refuse(fmt::format("has width {} in CSC, its input has {}", o_.csc_width, in.width));
        if (o_.csc_height < in.height || (o_.csc_height > in.height && o_.data_reuse == 0))
            refuse(fmt::format("has height {} in CSC, its input has {}", o_.csc_height, in.height));
    }

    void expect_output(const char* name, std::int64_t padded, std::int64_t kernel, std::int64_t stride, std::int64_t found)
    {
        const std::int64_t span = padded - kernel, steps = span >= 0 ? span / stride : -((-span + stride - 1) / stride);
        if (steps + 1 != found) refuse(fmt::format("has an output {} of {}, expected {}", name, found, steps + 1));
    }

    void check_shapes()
    {
        if (winograd()) return;
        if (o_.feature()) check_feature_sizes();
        const Cube& out = o_.destination;
        if (o_.feature())
            expect_output("width", o_.csc_width + o_.pad_left + o_.pad_right, (o_.kernel_width - 1) * o_.dilation_x + 1, o_.stride_x,
                          out.width);
        expect_output("height", o_.csc_height + o_.pad_top + o_.pad_bottom, (o_.kernel_height - 1) * o_.dilation_y + 1, o_.stride_y,
                      out.height);
        if (o_.mac_width != out.width || o_.mac_height != out.height)
            refuse(
                fmt::format("has an output of {} x {} in CMAC, its cube has {} x {}", o_.mac_width, o_.mac_height, out.width, out.height));
    }

    CheckedTask& t_;
    const Hardware& hw_;
    const std::size_t i_;
    const ConvOperation& o_;
};

}  // namespace

void check_operation(CheckedTask& t, std::size_t i, const ConvOperation&) { ConvCheck(t, i).run(); }

}  // namespace dlasim::loadable
