#include <algorithm>

#include "base/bits.h"
#include "facts/abilities.h"
#include "lowering/cut/size_sdp.h"
#include "lowering/cut/weight_ring.h"

namespace dlasim {
namespace {

constexpr std::uint32_t kMaxWidth = 8192;  // [spec] programming.md 2
constexpr auto divide_up = ceil_div<std::uint64_t>, align_up = round_up<std::uint64_t>;

class Sizer {
public:
    Sizer(const Pass& pass, const Hardware& hw) : p_(pass), hw_(hw), can_(facts::abilities(hw)) {}

    Fit<Geometry> size()
    {
        const bool possible = precision_of_machine() && line_of_register() && (start(), in_its_mode()) && (!p_.convolves() || banks());
        return possible ? with_sdp(g_, p_, hw_) : Fit<Geometry>{{}, problem_};
    }

    std::string forbidden()
    {
        precision_of_machine();
        return problem_;
    }

private:
    std::uint64_t atom() const { return hw_.memory.atom_bytes; }
    bool expect(bool holds, const std::string& problem)
    {
        if (!holds) problem_ = problem;
        return holds;
    }

    bool line_of_register()
    {
        return expect(!p_.convolves() || p_.width <= kMaxWidth, "found a line of " + std::to_string(p_.width) +
                                                                    " positions, expected at most " + std::to_string(kMaxWidth) +
                                                                    ": its register has 13 bits");
    }

    /// What all modes have in common.
    void start()
    {
        g_.width_ext = p_.width;
        g_.height_ext = p_.lines();
        g_.channels_ext = p_.channels;
        g_.kernel_width = p_.kernel_width;
        g_.kernel_height = p_.kernel_height;
        g_.kernel_channels = p_.channels;
        g_.stride_ext = p_.stride;
        g_.pad_right = p_.pad.right;
        g_.in_precision = static_cast<std::uint32_t>(p_.stored_precision());
        const std::uint32_t es = p_.element_bytes();
        g_.surfaces = static_cast<std::uint32_t>(divide_up(std::uint64_t{p_.channels} * es, atom()));
        g_.out_width = (p_.width + p_.pad.left + p_.pad.right - ((p_.kernel_width - 1) * p_.dilation.x + 1)) / p_.stride.x + 1;
        g_.out_height =
            p_.reuse.output_rows != 0 ? p_.reuse.output_rows : (p_.lines() + p_.pad.top + p_.pad.bottom - p_.span_y()) / p_.stride.y + 1;
        g_.in_strides = input_strides(p_, hw_);
        g_.kernel_bytes = std::uint64_t{p_.kernel_width} * p_.kernel_height * p_.channels * es;
    }

    bool in_its_mode()
    {
        switch (p_.mode) {
            case PassMode::Direct:
                return direct();
            case PassMode::Image:
                return image();
            case PassMode::Winograd:
                return winograd();
            case PassMode::Sdp:
                return features();
            case PassMode::Pool:
                return true;
        }
        return true;
    }

    bool precision_of_machine()
    {
        return expect(can_.words || p_.precision == Precision::Int8, std::string("found precision ") + precision_name(p_.precision) +
                                                                         ", expected int8: " + hw_.name + " computes nothing else") &&
               expect(can_.words || p_.output.precision == Precision::Int8, std::string("found output precision ") +
                                                                                precision_name(p_.output.precision) +
                                                                                ", expected int8: " + hw_.name + " writes nothing else") &&
               expect(p_.batch == 1 || (hw_.batch && p_.mode == PassMode::Direct),
                      "found a batch of " + std::to_string(p_.batch) + ", expected 1: " + hw_.name + " has no multi-batch in this mode") &&
               expect(!p_.compressed.on || hw_.weight_compression,
                      "found compressed weights, expected none: " + hw_.name + " cannot decompress") &&
               expect(p_.mode == PassMode::Direct || (p_.dilation.x == 1 && p_.dilation.y == 1),
                      "found a dilation of " + std::to_string(p_.dilation.x) + " x " + std::to_string(p_.dilation.y) +
                          ", expected 1: only direct mode dilates");
    }

    // [spec] programming.md 3.
    bool direct()
    {
        const std::uint64_t r = hw_.atoms_per_entry(), s = g_.surfaces, w = p_.width;
        if (p_.width == 1 && p_.height == 1 && p_.surfaces_packed) {
            g_.entries_per_slice = divide_up(s, r);
        } else {
            const std::uint64_t left = s % r;
            g_.entries_per_slice = s / r * w;
            if (left != 0) g_.entries_per_slice += r == 4 && left == 3 ? w : divide_up(left * w, r);
        }
        g_.in_strides.batch = g_.in_strides.surface * g_.surfaces;
        g_.entries = g_.entries_per_slice * p_.lines() * p_.batch;
        return true;
    }

    // [spec] sdp.md 1.5: 16-bit features that become 8 bits come in pairs of surfaces.
    bool features()
    {
        if (p_.stored_precision() == Precision::Int8 || p_.element_bytes() == 2) return true;
        g_.surfaces = 2 * static_cast<std::uint32_t>(divide_up(p_.channels, atom()));
        return expect(can_.words, "found int16 input for int8, expected int8: " + hw_.name + " reads nothing else");
    }

    // [spec] programming.md 4.
    bool image()
    {
        const PixelFormat& f = *p_.format;
        const std::uint32_t component_bytes = p_.precision == Precision::Int8 ? 1 : 2;
        g_.in_precision = f.eight_bit ? 0 : f.half_float ? 2 : 1;
        g_.entries_per_slice =
            divide_up(std::uint64_t{p_.pad.left + p_.width + g_.pad_right} * f.components * component_bytes, hw_.cbuf.entry_bytes);
        g_.pad_right = padding_counted(p_.pad.right) ? p_.pad.right : needed_on_the_right();
        const std::uint32_t row = p_.kernel_width * p_.channels;
        const std::uint32_t limit = hw_.mac.atomic_c >> p_.y_extension;
        // [spec] csc.md 1.8.3: the first element of a stripe, 3 (two rows: 1) steps and a row on, is counted in six bits.
        const std::uint32_t step = p_.stride.x * f.components;
        g_.kernel_width = 1;
        g_.kernel_channels = row;
        g_.entries = g_.entries_per_slice * p_.lines();
        const std::string rows = " with " + std::to_string(1u << p_.y_extension) + " rows per operation";
        return expect(can_.words || f.eight_bit, std::string("found pixel format ") + f.name +
                                                     ", expected one of 8-bit components: " + hw_.name + " supports no other") &&
               expect(p_.x_offset < atom() / f.plane_pixel_bytes || p_.x_offset == 0,
                      "found x_offset " + std::to_string(p_.x_offset) + ", expected less than the " +
                          std::to_string(atom() / f.plane_pixel_bytes) + " pixels of an atom") &&
               expect(g_.in_precision == static_cast<std::uint32_t>(p_.precision) || p_.conversion.on,
                      std::string("found pixels of ") + precision_name(static_cast<Precision>(g_.in_precision)) + " for " +
                          precision_name(p_.precision) + ", expected a conversion (input.conversion)") &&
               expect(p_.y_extension == 0 || row <= limit,
                      "found a kernel row of " + std::to_string(row) + " elements, expected at most " + std::to_string(limit) + rows) &&
               expect(p_.y_extension == 0 || step <= limit,
                      "found a stride of " + std::to_string(p_.stride.x) + " pixels of " + std::to_string(f.components) + " components = " +
                          std::to_string(step) + rows + ", expected at most " + std::to_string(limit) + ": CSC counts no further") &&
               expect(row <= can_.most_pixel_row, "found a kernel row of " + std::to_string(row) + " elements, expected at most " +
                                                      std::to_string(can_.most_pixel_row) + ": " + hw_.name +
                                                      " addresses two slices of pixels") &&
               expect(!can_.sums_wrongly(row, g_.out_width), sums_wrongly(row)) &&
               expect(padding_counted(g_.pad_right),
                      "found " + std::to_string(p_.pad.left) + " pixels of padding on the left and " + std::to_string(g_.pad_right) +
                          " on the right of a line, expected at most 15 atoms of " + std::to_string(atom()) + " bytes on a side" +
                          (f.planes == 2 ? ", 7 of the second plane" : "") + ": CDMA counts no more");
    }

    std::string sums_wrongly(std::uint32_t row) const
    {
        const std::string found = "found a kernel row of " + std::to_string(row) + " elements", slice = std::to_string(can_.pixel_slice);
        if (can_.sums_wrongly(row, 0)) return found + ", expected none of n * " + slice + " + 1 elements: the silicon computes it wrongly";
        return found + " for " + std::to_string(g_.out_width) + " output columns, expected no line of n * " +
               std::to_string(can_.longest_pixel_stripe) + " + 1 columns where a row is no multiple of " + slice +
               " elements: the silicon computes the last column wrongly. Use the same input as features (without \"format\")";
    }

    /// [spec] cdma.md 5.2 and 16, point 7: atoms of padding beside a line, of which CDMA has counters of four bits, three for the second
    /// plane.
    bool padding_counted(std::uint32_t right) const
    {
        for (std::uint32_t plane = 0; plane < p_.format->planes; ++plane) {
            const std::uint32_t bytes = p_.format->plane_pixel_bytes * (plane + 1);
            const auto pixels = static_cast<std::uint32_t>(std::max<std::uint64_t>(1, atom() / bytes));
            const std::uint32_t x = plane == 0 ? p_.x_offset : p_.x_offset % pixels, most = plane == 0 ? 15 : 7;
            const std::uint32_t before = p_.pad.left / pixels + (x >= p_.pad.left % pixels ? 0 : 1), real = (p_.width - 1 + x) / pixels + 1;
            const std::uint32_t all = (p_.pad.left + p_.width - 1 + right) / pixels + 2;
            if (before > most || all - std::min(all, before + real) > most) return false;
        }
        return true;
    }
    /// Columns beyond the input that the last window sees.
    std::uint32_t needed_on_the_right() const
    {
        const std::uint32_t seen = (g_.out_width - 1) * p_.stride.x + p_.kernel_width, there = p_.pad.left + p_.width;
        return seen - std::min(seen, there);
    }

    // [spec] programming.md 5.
    bool winograd()
    {
        const std::uint32_t sx = p_.stride.x, sy = p_.stride.y, es = p_.element_bytes();
        // Each phase of a strided kernel must fit 3x3.
        const bool possible =
            expect(
                !p_.conversion.on || !p_.pad.any(),
                "found a conversion of a padded input in mode winograd, expected no padding: CDMA pads in front of its converter there") &&
            expect(hw_.winograd, "found mode winograd, expected another: " + hw_.name + " has none") &&
            expect(p_.kernel_width <= 3 * sx && p_.kernel_height <= 3 * sy, "found a kernel of " + std::to_string(p_.kernel_width) + " x " +
                                                                                std::to_string(p_.kernel_height) +
                                                                                ", expected at most 3 x 3 for each phase of the stride");
        if (!possible) return false;
        g_.channels_ext = static_cast<std::uint32_t>(align_up(std::uint64_t{p_.channels} * es, 32)) / es * sx * sy;
        g_.width_ext = g_.out_width + 4;
        g_.height_ext = p_.reuse.total_lines != 0 ? p_.reuse.total_lines : g_.out_height + 4;
        const std::uint64_t sections = std::uint64_t{g_.width_ext} * sx, used = std::uint64_t{p_.pad.left} + p_.width;
        g_.pad_right = static_cast<std::uint32_t>(sections - used);
        g_.entries_per_slice = std::uint64_t{g_.surfaces} * sx * sy * (g_.width_ext / 4);
        g_.kernel_bytes = 16ull * g_.channels_ext * es;
        g_.kernel_width = g_.kernel_height = 4;
        g_.kernel_channels = g_.channels_ext;
        g_.stride_ext = {1, 1};
        g_.entries = g_.entries_per_slice * g_.height_ext;
        return expect(g_.channels_ext <= 8192,
                      "found " + std::to_string(g_.channels_ext) + " channels after extension by the stride, expected at most 8192") &&
               expect(g_.out_width % 4 == 0 && g_.out_height % 4 == 0, "found an output of " + std::to_string(g_.out_width) + " x " +
                                                                           std::to_string(g_.out_height) +
                                                                           ", expected multiples of 4: Winograd works on tiles") &&
               expect(sections >= used && sections - used < 64, "found a right padding of " +
                                                                    std::to_string(static_cast<std::int64_t>(sections - used)) +
                                                                    " after extension, expected 0..63");
    }

    // [spec] programming.md 2, "buffer limits".
    bool banks()
    {
        const std::uint64_t depth = hw_.cbuf.bank_depth, bank_bytes = depth * hw_.cbuf.entry_bytes;
        const std::uint32_t all = hw_.cbuf.banks - (p_.compressed.on ? 1 : 0);
        const std::uint64_t most = can_.most_line_entries;
        const std::uint32_t released = p_.reuse.released_lines != 0 ? p_.reuse.released_lines : g_.height_ext;
        const bool addressed =
            expect(released <= kMaxReleased, "found " + std::to_string(released) + " lines of input, expected at most " +
                                                 std::to_string(kMaxReleased) + " per release of CSC") &&
            expect(g_.entries_per_slice <= most,
                   "found " + std::to_string(g_.entries_per_slice) + " CBUF entries in a line, expected at most " + std::to_string(most)) &&
            expect(g_.kernel_bytes <= 1u << 18,
                   "found " + std::to_string(g_.kernel_bytes) + " bytes in a kernel, expected at most 262144: its register has 18 bits");
        if (!addressed) return false;
        g_.weight_bytes = p_.compressed.on ? p_.compressed.weight_bytes : align_up(g_.kernel_bytes * p_.kernels, hw_.cbuf.entry_bytes);
        const std::uint64_t need_data = p_.data_banks != 0 ? p_.data_banks : divide_up(g_.entries, depth);
        const std::uint64_t in_group = std::min(p_.kernels, hw_.kernel_group(p_.precision));
        const GroupEnds ends =
            group_ends(hw_, p_.precision, Kernels{p_.kernels}, p_.compressed.on ? g_.kernel_bytes / p_.element_bytes() : g_.kernel_bytes);
        if (!expect(!p_.compressed.on || mask_fits(hw_, ends),
                    "found a weight mask of " + std::to_string(divide_up(ends.front(), 8)) + " bytes for one group of " +
                        std::to_string(in_group) + " kernels, expected at most " + std::to_string(bank_bytes) + ": one bank holds it"))
            return false;
        const bool unknown = p_.compressed.on && p_.compressed.group_ends.empty();
        const std::uint64_t group_banks = unknown ? 1 : weight_banks(hw_, p_.compressed.on ? p_.compressed.group_ends : ends);
        const std::string machine = " of the " + std::to_string(all) + " banks of " + std::to_string(bank_bytes) + " bytes" +
                                    (p_.compressed.on ? " (one holds the mask)" : "");
        const bool room =
            expect(need_data + group_banks <= all, "does not fit the CBUF: the input takes " + std::to_string(g_.entries) +
                                                       " entries = " + std::to_string(need_data) + " banks, one group of " +
                                                       std::to_string(in_group) + " kernels " + std::to_string(group_banks) + machine) &&
            expect(g_.entries <= need_data * depth, "found " + std::to_string(g_.entries) + " entries of input, expected at most " +
                                                        std::to_string(need_data * depth) + " in " + std::to_string(need_data) +
                                                        " data banks");
        if (!room) return false;
        g_.data_banks = static_cast<std::uint32_t>(need_data);
        const std::uint64_t want = std::max<std::uint64_t>(1, divide_up(g_.weight_bytes, bank_bytes));
        g_.weight_banks =
            p_.weight_banks != 0 ? p_.weight_banks : static_cast<std::uint32_t>(std::min<std::uint64_t>(all - need_data, want));
        const std::uint64_t unit = p_.mode == PassMode::Winograd ? 4 * g_.entries_per_slice
                                   : p_.mode == PassMode::Direct ? g_.entries_per_slice * p_.grain * p_.batch
                                                                 : g_.entries_per_slice;
        return expect(g_.weight_banks >= group_banks && g_.data_banks + g_.weight_banks <= all,
                      "found " + std::to_string(g_.data_banks) + " data and " + std::to_string(g_.weight_banks) +
                          " weight banks, expected at least " + std::to_string(group_banks) + " for weights and at most " +
                          std::to_string(all) + " together") &&
               expect(unit <= g_.data_banks * depth, "found a fetch unit of " + std::to_string(unit) + " entries, expected at most " +
                                                         std::to_string(g_.data_banks * depth));
    }

    const Pass& p_;
    const Hardware& hw_;
    const facts::Abilities can_;
    Geometry g_;
    std::string problem_;
};

}  // namespace

InputStrides input_strides(const Pass& p, const Hardware& hw)
{
    const std::uint64_t atom = hw.memory.atom_bytes;
    if (p.mode != PassMode::Image) {
        const std::uint64_t line = p.in_strides.line != 0 ? p.in_strides.line : p.width * atom;
        return {{.line = line, .surface = p.in_strides.surface != 0 ? p.in_strides.surface : line * p.height}, 0};
    }
    const std::uint64_t bytes = (std::uint64_t{p.width} + p.x_offset) * p.format->plane_pixel_bytes;
    const std::uint64_t uv = p.format->planes != 2 ? 0 : p.in_strides.uv_line != 0 ? p.in_strides.uv_line : align_up(2 * bytes, atom);
    return {{.line = p.in_strides.line != 0 ? p.in_strides.line : align_up(bytes, atom)}, uv};
}

Fit<Geometry> fits(const Pass& pass, const Hardware& hardware) { return Sizer(pass, hardware).size(); }

std::string forbidden(const Pass& pass, const Hardware& hardware) { return Sizer(pass, hardware).forbidden(); }

Geometry size_pass(const Pass& pass, const Hardware& hardware, const std::string& where) { return fits(pass, hardware).or_refused(where); }

}  // namespace dlasim
