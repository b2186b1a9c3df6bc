#include <fmt/format.h>

#include <algorithm>

#include "base/bits.h"
#include "facts/abilities.h"
#include "facts/optional_units.h"
#include "loadable/nvidia/check/checked_task.h"

namespace dlasim::loadable {
namespace {

constexpr std::uint32_t kMostOfCube = 8192, kMostLines = 8192, kCopyStep = 32;
constexpr unsigned kTable = 2, kMost = 7, kMostSplits = 64, kMostStride = 8;  // kTable: an activation

class OperationCheck {
public:
    OperationCheck(CheckedTask& t, std::size_t i) : t_(t), hw_(t.f.hw), i_(i), op_(t.task.operations[i]) {}

    void run()
    {
        if (op_.type() >= kKinds) return;
        if (facts::missing_unit(hw_, units_of(op_.kind).front()))
            return t_.refuse("unit", i_, fmt::format("is a {}, which {} does not have", op_.name(), hw_.name));
        visit([this](const auto& o) { check(o); }, op_);
    }

private:
    /// In a file of its own.
    template <class O>
    void check(const O& o)
    {
        check_operation(t_, i_, o);
    }

    std::uint32_t atom() const { return hw_.memory.atom_bytes; }

    void check_stage(const SdpOperation& o, const char* name, const SdpStage& s, const Cube& operand, bool is_y)
    {
        if (s.enable == 0) return;
        const auto refuse = [&](std::string problem) { t_.refuse("sdp", i_, fmt::format("{}: {}", name, problem)); };
        if (s.alu > 3 || s.type > 3 || s.mode > 2 || s.activation > 3 || s.precision > 2)
            return refuse(fmt::format("has ALU {}, type {}, mode {}, activation {}, precision {}, expected at most 3, 3, 2, 3, 2", s.alu,
                                      s.type, s.mode, s.activation, s.precision));
        if (is_y && !hw_.sdp.has_ew) refuse(fmt::format("is enabled, which {} does not have", hw_.name));
        if (s.activation == kTable && !is_y) refuse("has a table, which only Y can have");
        if (s.activation == kTable && o.table < 0) refuse("uses a table, and the operation names none");
        if (s.activation == kTable && !hw_.sdp.has_lut) refuse(fmt::format("uses a table, which {} does not have", hw_.name));
        if (s.type == 0 || s.mode == 0) return;
        const std::uint64_t bytes = (s.precision == 0 ? 1u : 2u) * (s.type == 3 ? 2u : 1u);
        const std::uint32_t lanes = atom() / element_bytes(o.source_precision);
        const std::uint64_t need = s.mode == 1
                                       ? o.source.channels * bytes
                                       : std::uint64_t{ceil_div(o.source.channels, lanes) - 1} * operand.surface_stride +
                                             std::uint64_t{o.source.height - 1} * operand.line_stride + o.source.width * lanes * bytes;
        t_.lies(i_, name, operand, need);
    }

    void check(const SdpOperation& o)
    {
        if (!t_.precise(i_, {o.source_precision, o.precision})) return;
        const Cube &in = o.source, &out = o.destination;
        if (!t_.sized(i_, "input", in) || !t_.sized(i_, "output", out)) return;
        if (in.width != out.width || in.height != out.height || in.channels != out.channels)
            t_.doubt("sdp", i_, "has input and output of different sizes; those of the input are used");
        if (o.batch < 1 || (o.batch != 1 && !hw_.batch))
            t_.refuse("sdp", i_, fmt::format("has batch {}, expected {}", o.batch, hw_.batch ? "1 or more" : "1"));
        check_parent(in, "a convolution", false);
        t_.lies(i_, "input", in, t_.extent(in, element_bytes(o.source_precision)));
        Cube written = out;
        written.width = in.width;
        written.height = in.height;
        written.channels = in.channels;
        t_.lies(i_, "output", out, t_.extent(written, element_bytes(o.precision)));
        if (out.on_the_fly() && t_.consumers[i_].empty())
            t_.refuse("fused", i_, "writes to a pooling that does not name it as fused parent");
        constexpr std::array kStages{"X1", "X2", "Y"};
        for (std::size_t k = 0; k < kStages.size(); ++k) check_stage(o, kStages[k], o.stages[k], o.operands[k], k == 2);
        if (o.table >= 0 && t_.tables == 0)
            t_.refuse("sdp", i_,
                      fmt::format("uses table {}, and num_luts is 0: the driver reads the network descriptor as a table", o.table));
        else if (o.table >= 0) check_table("sdp", o.table);
        t_.hands_over(i_, out);
    }

    void check_table(const char* rule, int table)
    {
        if (table >= static_cast<int>(t_.tables)) t_.refuse(rule, i_, fmt::format("uses table {}, expected one of {}", table, t_.tables));
    }

    /// Where the input is on the fly, and what the fused parent says. `must`: without one it cannot run.
    void check_parent(const Cube& in, const char* what, bool must)
    {
        const bool named = op_.fused_parent.operation != -1;
        if (in.on_the_fly() && !named) {
            std::string problem = fmt::format("takes the output of {}, which it does not name as fused parent", what);
            if (must) t_.refuse("fused", i_, std::move(problem));
            else t_.doubt("fused", i_, std::move(problem));
        }
        if (!must && !in.on_the_fly() && named) t_.refuse("fused", i_, "names a fused parent, but reads memory");
    }

    void check(const PdpOperation& o)
    {
        const auto refuse = [&](std::string problem) { t_.refuse("pdp", i_, std::move(problem)); };
        if (!t_.precise(i_, {o.precision})) return;
        const Cube &in = o.source, &out = o.destination;
        if (!t_.sized(i_, "input", in) || !t_.sized(i_, "output", out)) return;
        if (o.method > 2 || o.kernel_width > kMost || o.kernel_height > kMost)
            return refuse(fmt::format("has method {} and a kernel of {} x {}, expected 0 to 2 and 8 x 8 at most", o.method,
                                      o.kernel_width + 1, o.kernel_height + 1));
        const auto strides = [](unsigned stride) { return stride >= 1 && stride <= kMostStride; };
        if (!strides(o.stride_x) || !strides(o.stride_y))
            return refuse(fmt::format("has strides {} and {}, expected 1 to {}", o.stride_x, o.stride_y, kMostStride));
        if (std::max({o.pad_left, o.pad_right, o.pad_top, o.pad_bottom}) > kMost)
            refuse(
                fmt::format("has paddings {}, {}, {}, {}, expected at most {}", o.pad_left, o.pad_right, o.pad_top, o.pad_bottom, kMost));
        if (o.splits < 1 || o.splits > kMostSplits) refuse(fmt::format("has {} splits, expected 1 to {}", o.splits, kMostSplits));
        if (in.on_the_fly() && o.splits != 1) refuse(fmt::format("has {} splits after SDP, expected 1", o.splits));
        check_parent(in, "SDP", true);
        if (out.on_the_fly()) refuse("has an output of memory type 2, expected memory");
        if (o.precision == 2 && std::ranges::any_of(o.pad_values, [](std::int32_t value) { return value != 0; }))
            refuse("has padding values, expected 0 in fp16");
        if (in.channels != out.channels)
            refuse(fmt::format("has {} channels in its input and {} in its output", in.channels, out.channels));
        check_windows(o);
        t_.lies(i_, "input", in, t_.extent(in, element_bytes(o.precision)));
        t_.lies(i_, "output", out, t_.extent(out, element_bytes(o.precision)));
    }

    void check_windows(const PdpOperation& o)
    {
        if (o.splits == 1) {
            check_axis("width", o.source.width, o.destination.width, o.kernel_width, o.stride_x, o.pad_left, o.pad_right);
            check_axis("height", o.source.height, o.destination.height, o.kernel_height, o.stride_y, o.pad_top, o.pad_bottom);
            return;
        }
        const auto [first, mid, last] = o.partial_out;
        if (o.splits > 1 && first + last + mid * (o.splits - 2) != static_cast<int>(o.destination.width))
            t_.refuse("pdp", i_,
                      fmt::format("has parts of {}, {} and {} in its output, which do not add up to its width of {}", first, mid, last,
                                  o.destination.width));
    }

    void check_axis(const char* name, std::uint32_t in, std::uint32_t out, unsigned kernel, unsigned stride, unsigned before,
                    unsigned after)
    {
        const std::int64_t span = std::int64_t{in} + before + after - kernel - 1;
        const std::int64_t places = (span >= 0 ? span / stride : -((-span + stride - 1) / stride)) + 1;
        if (places != out)
            t_.refuse(
                "pdp", i_,
                fmt::format("has an output {} of {}, expected {}: {} and paddings of {} and {}", name, out, places, in, before, after));
        else if (span % stride != 0)
            t_.doubt("pdp", i_, fmt::format("does not use the last {} of the {} of its input", span % stride, name));
    }

    void check(const CdpOperation& o)
    {
        if (!t_.precise(i_, {o.input_precision, o.precision})) return;
        const Cube &in = o.source, &out = o.destination;
        if (o.input_precision != o.precision)
            t_.refuse("cdp", i_, fmt::format("has precision {} in its input and {} in its output", o.input_precision, o.precision));
        if (in.on_the_fly() || out.on_the_fly()) t_.refuse("cdp", i_, "reads or writes on the fly, expected memory");
        if (o.window != 3 && o.window != 5 && o.window != 7 && o.window != 9)
            t_.refuse("cdp", i_, fmt::format("has a window of {}, expected 3, 5, 7 or 9", o.window));
        if (!t_.sized(i_, "input", in) || !t_.sized(i_, "output", out)) return;
        if (o.table >= 0) check_table("cdp", o.table);
        t_.lies(i_, "input", in, t_.extent(in, element_bytes(o.input_precision)));
        t_.lies(i_, "output", out, t_.extent(out, element_bytes(o.input_precision)));
    }

    void check(const BdmaOperation&)
    {
        const TransferMemories& copy = t_.copies[i_];
        if (copy.transfers > op_.bdma.transfers.size())
            return t_.refuse("bdma", i_, fmt::format("has {} transfers, expected {} at most", copy.transfers, op_.bdma.transfers.size()));
        for (std::size_t k = 0; k < op_.bdma.transfers.size(); ++k) {
            const Transfer& x = op_.bdma.transfers[k];
            const std::uint64_t lines = x.lines;
            const bool sizes = x.lines != 0 && x.surfaces != 0 && x.line_bytes != 0 && x.lines <= kMostLines && x.surfaces <= kMostLines &&
                               x.line_bytes % kCopyStep == 0;
            const bool apart = x.source_line >= x.line_bytes && x.destination_line >= x.line_bytes &&
                               x.source_surface >= x.source_line * lines && x.destination_surface >= x.destination_line * lines;
            if (!sizes || !apart)
                t_.refuse("bdma", i_,
                          fmt::format("copies {} surfaces of {} lines of {} bytes in transfer {}, with lines {} and {} and surfaces {} and "
                                      "{} apart: the driver refuses it",
                                      x.surfaces, x.lines, x.line_bytes, k, x.source_line, x.destination_line, x.source_surface,
                                      x.destination_surface));
            copied("source", x, x.source, copy.from, x.source_line, x.source_surface);
            copied("destination", x, x.destination, copy.to, x.destination_line, x.destination_surface);
        }
    }

    void copied(const char* name, const Transfer& x, std::int16_t address, unsigned memory, std::uint64_t line, std::uint64_t surface)
    {
        Cube cube;
        cube.memory = static_cast<CubeMemory>(memory);
        cube.address = address;
        const std::uint64_t surfaces = x.surfaces == 0 ? 0 : x.surfaces - 1, lines = x.lines == 0 ? 0 : x.lines - 1;
        t_.lies(i_, name, cube, surfaces * surface + lines * line + x.line_bytes);
    }

    CheckedTask& t_;
    const Hardware& hw_;
    const std::size_t i_;
    const Operation& op_;
};

}  // namespace

std::string CheckedTask::where(std::size_t i) const
{
    const Operation& o = task.operations[i];
    return fmt::format("{}: operation {} ({})", place, i, o.type() < kKinds ? o.name() : "?");
}

bool CheckedTask::precise(std::size_t i, std::initializer_list<unsigned> precisions)
{
    for (const unsigned precision : precisions) {
        if (precision > 2) refuse("precision", i, fmt::format("has precision {}, expected 0 to 2", precision));
        else if (precision != 0 && !facts::abilities(f.hw).words)
            refuse("precision", i, fmt::format("has precision {}, expected 0: {} computes int8", precision, f.hw.name));
        else continue;
        return false;
    }
    return true;
}

bool CheckedTask::sized(std::size_t i, const char* name, const Cube& cube)
{
    const auto good = [](std::uint32_t size) { return size >= 1 && size <= kMostOfCube; };
    if (good(cube.width) && good(cube.height) && good(cube.channels)) return true;
    refuse("cube", i,
           fmt::format("has an {} of {} x {} x {}, expected 1 to {} of each", name, cube.width, cube.height, cube.channels, kMostOfCube));
    return false;
}

void CheckedTask::lies(std::size_t i, const char* name, const Cube& cube, std::uint64_t bytes, std::uint64_t align)
{
    if (cube.on_the_fly()) return;
    if (cube.memory != CubeMemory::Primary && cube.memory != CubeMemory::Secondary)
        return refuse("cube", i, fmt::format("has memory type {} of its {}, expected 0 to 2", static_cast<unsigned>(cube.memory), name));
    if (cube.memory == CubeMemory::Secondary)
        refuse("cube", i, fmt::format("has its {} in the secondary memory, which the runtime never allocates", name));
    const auto entry = static_cast<std::size_t>(cube.address);
    if (cube.address < 0 || entry >= raw.addresses.size())
        return refuse("cube", i, fmt::format("has its {} at address {}, expected one of {}", name, cube.address, raw.addresses.size()));
    const std::uint64_t offset = f.address(raw, entry).offset, size = f.memory(raw, entry).size;
    const std::uint64_t left = offset > size || cube.offset > size - offset ? 0 : size - offset - cube.offset;
    const bool begins = offset <= size && cube.offset <= size - offset;
    if (!begins || bytes > left) refuse("cube", i, fmt::format("has {} bytes of {}, its memory has {} from there on", bytes, name, left));
    const auto aligned = [&](const char* what, std::uint64_t value) {
        if (value % align != 0)
            refuse("alignment", i, fmt::format("has {} {} of its {}, expected a multiple of {}", what, value, name, align));
    };
    aligned("offset", offset + cube.offset);
    aligned("line stride", cube.line_stride);
    aligned("surface stride", cube.surface_stride);
}

std::uint64_t CheckedTask::extent(const Cube& cube, std::uint32_t element) const
{
    if (cube.width == 0 || cube.height == 0 || cube.channels == 0) return 0;
    const std::uint32_t atom = f.hw.memory.atom_bytes;
    return std::uint64_t{ceil_div(cube.channels * element, atom) - 1} * cube.surface_stride +
           std::uint64_t{cube.height - 1} * cube.line_stride + std::uint64_t{cube.width} * atom;
}

void CheckedTask::hands_over(std::size_t i, const Cube& given)
{
    for (const std::size_t j : consumers[i]) {
        const Cube& taken = *task.operations[j].source();
        if (task.operations[i].kind == Kind::Conv && !taken.on_the_fly())
            refuse("fused", j, fmt::format("names operation {} as fused parent, but reads memory", i));
        if (taken.width != given.width || taken.height != given.height || taken.channels != given.channels)
            refuse("fused", j,
                   fmt::format("reads {} x {} x {}, operation {} writes {} x {} x {}", taken.width, taken.height, taken.channels, i,
                               given.width, given.height, given.channels));
    }
}

void check_operation(CheckedTask& t, std::size_t i) { OperationCheck(t, i).run(); }

}  // namespace dlasim::loadable
