#include "report/program_description.h"

#include <fmt/format.h>

#include "base/files/printable.h"
#include "config/machine/hardware.h"
#include "config/model/layer.h"
#include "loadable/write/recovery.h"
#include "registers/tables.h"
#include "report/replay_operations.h"

namespace dlasim {
namespace {

using loadable::Cube;
using loadable::RecoveredOperation;

constexpr unsigned kLongField = 17;  // bits from which a field is written in hexadecimal

/// "CONV_MODE 0, PROC_PRECISION 1"
std::string fields_text(const UnitRegisters& unit, std::uint32_t offset, std::uint32_t value)
{
    std::string text;
    for (const FieldRow& row : unit.fields) {
        if (row.field.offset != offset) continue;
        const std::uint32_t field = row.field.get(value);
        text += (text.empty() ? "" : ", ") + std::string(row.name);
        text += row.field.width >= kLongField && field > 9 ? fmt::format(" {:#x}", field) : fmt::format(" {}", field);
    }
    return text;
}

std::string write_text(const RegisterWrite& write, const Hardware& hardware)
{
    std::string fields;
    for (const UnitRegisters& unit : register_units(hardware))
        if (unit.has(write.address)) fields = fields_text(unit, write.address % UnitRegisters::kWindow, write.value);
    return fmt::format("{:#07x} {:<32} {:#010x}{}{}", write.address, write.name, write.value, fields.empty() ? "" : "  ", fields);
}

std::string masked_text(const char* what, const std::string& name, std::uint32_t mask, std::uint32_t expected)
{
    return fmt::format("{} {} for {:#x} under mask {:#x}", what, name, expected, mask);
}

template <class... F>
struct EntryCases : F... {
    using F::operator()...;
};
template <class... F>
EntryCases(F...) -> EntryCases<F...>;

std::string cube_text(const Cube& cube, const std::optional<Place>& place)
{
    std::string text = fmt::format("{} x {} x {}", cube.width, cube.height, cube.channels);
    if (cube.on_the_fly()) return text + " on the fly";
    return place ? text + fmt::format(" at {} {:#x}", place->primary ? "DBB" : "CVSRAM", place->address.byte()) : text;
}

const char* precision_text(unsigned precision)
{
    constexpr const char* kNames[] = {"int8", "int16", "fp16", "precision 3"};
    return kNames[precision & 3];
}

std::string conv_text(const loadable::ConvOperation& o)
{
    const PixelFormat* pixels = o.feature() ? nullptr : find_pixel_format(std::uint32_t{o.format});
    std::string text = fmt::format("{}{}, {}", o.mode != 0 ? "Winograd" : "direct", o.batch > 1 ? fmt::format(", batch {}", o.batch) : "",
                                   precision_text(o.precision));
    if (!o.feature()) text += fmt::format(", pixels {}", pixels ? std::string(pixels->name) : std::to_string(o.format));
    text += fmt::format(", kernels of {} x {} x {} as CSC has them, stride {} x {}, dilation {} x {}, padding {} {} {} {} of {}",
                        o.kernel_width, o.kernel_height, o.kernel_channels, o.stride_x, o.stride_y, o.dilation_x, o.dilation_y, o.pad_left,
                        o.pad_right, o.pad_top, o.pad_bottom, o.pad_value);
    text += fmt::format(", banks {} + {}{}{}{}", o.data_banks, o.weight_banks, o.weight_format != 0 ? ", compressed weights" : "",
                        o.data_reuse != 0 ? ", data kept in the buffer" : "", o.weight_reuse != 0 ? ", weights kept in the buffer" : "");
    return text;
}

std::string sdp_text(const loadable::SdpOperation& o)
{
    constexpr const char* kStages[] = {"BS", "BN", "EW"};
    constexpr const char* kAlu[] = {"maximum", "minimum", "sum", "equal"};
    constexpr const char* kFrom[] = {"a register", "memory by kernel", "memory by element"};
    std::string text = fmt::format("{} to {}", precision_text(o.source_precision), precision_text(o.precision));
    for (std::size_t i = 0; i < o.stages.size(); ++i) {
        const loadable::SdpStage& stage = o.stages[i];
        if (stage.enable == 0) continue;
        text += fmt::format(", {}", kStages[i]);
        if (stage.adds()) text += fmt::format(" {}", kAlu[stage.alu & 3]);
        if (stage.multiplies()) text += " product";
        if (stage.type != 0) text += fmt::format(" with {}", kFrom[std::min<unsigned>(stage.mode, 2)]);
        constexpr const char* kActivations[] = {"", " ReLU", " lookup table", " PReLU"};
        text += kActivations[stage.activation & 3];
    }
    const loadable::Converter& out = o.output_converter;
    return text + fmt::format(", output scale {} shift {} offset {}", out.scale, out.truncate, out.offset);
}

std::string settings_text(const loadable::Operation& o)
{
    constexpr const char* kPools[] = {"average", "maximum", "minimum", "method 3"};
    constexpr const char* kRubik[] = {"contract", "split", "merge", "mode 3"};
    switch (o.kind) {
        case loadable::Kind::Conv:
            return conv_text(o.conv);
        case loadable::Kind::Sdp:
            return sdp_text(o.sdp);
        case loadable::Kind::Pdp:
            return fmt::format("{} of {} x {}, stride {} x {}, padding {} {} {} {}, {}{}", kPools[o.pdp.method & 3], o.pdp.kernel_width + 1,
                               o.pdp.kernel_height + 1, o.pdp.stride_x, o.pdp.stride_y, o.pdp.pad_left, o.pdp.pad_right, o.pdp.pad_top,
                               o.pdp.pad_bottom, precision_text(o.pdp.precision),
                               o.pdp.splits > 1 ? fmt::format(", in {} widths", o.pdp.splits) : "");
        case loadable::Kind::Cdp:
            return fmt::format("normalisation over {} channels, {}", o.cdp.window, precision_text(o.cdp.input_precision));
        case loadable::Kind::Rubik:
            return fmt::format("{}, {}", kRubik[o.rubik.mode & 3], precision_text(o.rubik.precision));
        case loadable::Kind::Bdma:
            break;
    }
    return "";
}

std::string part_text(const RecoveredOperation& part)
{
    RecoveredOperation o = part;
    std::string text;
    if (o.operation.kind == loadable::Kind::Bdma) {
        for (std::size_t i = 0; i < o.operation.bdma.transfers.size(); ++i) {
            const loadable::Transfer& t = o.operation.bdma.transfers[i];
            const auto at = [&](std::size_t k) {
                return fmt::format("{} {:#x}", o.places[k]->primary ? "DBB" : "CVSRAM", o.places[k]->address.byte());
            };
            text += fmt::format("       BDMA   {} surfaces of {} lines of {} bytes from {} to {}\n", t.surfaces, t.lines, t.line_bytes,
                                at(2 * i), at(2 * i + 1));
        }
        return text;
    }
    const std::vector<Cube*> cubes = cubes_of(o.operation);
    const auto place = [&](const Cube* cube) -> std::optional<Place> {
        for (std::size_t k = 0; k < cubes.size(); ++k)
            if (cubes[k] == cube) return o.places[k];
        return std::nullopt;
    };
    text = fmt::format("       {:<6} {} to {}\n", o.operation.name(), cube_text(*o.operation.source(), place(o.operation.source())),
                       cube_text(*o.operation.destination(), place(o.operation.destination())));
    return text + fmt::format("              {}\n", settings_text(o.operation));
}

std::string launches_text(const loadable::ProgramOperation& operation)
{
    std::string text;
    for (const OperationLaunch& launch : operation.launches)
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", kLaunchedNames[static_cast<std::size_t>(launch.unit)], launch.entry);
    return text;
}

}  // namespace

std::string program_text(const Program& program, const Hardware& hardware, const std::function<std::string(std::size_t step)>& step)
{
    std::string text = "\nregister program\n";
    for (std::size_t i = 0; i < program.size(); ++i) {
        const std::string line = std::visit(
            EntryCases{
                [&](const RegisterWrite& w) { return write_text(w, hardware); },
                [](const RegisterRead& r) { return r.check ? masked_text("read", r.name, r.mask, r.expected) : "read " + r.name; },
                [](const MarkT0&) { return std::string("t0"); },
                [](const WaitInterrupt& w) { return fmt::format("wait for {}, clear the interrupt", w.name); },
                [](const PollRegister& p) { return masked_text("poll", p.name, p.mask, p.expected); },
                [](const WaitPin&) { return std::string("wait for the interrupt pin"); },
                [](const WaitStatus& w) { return fmt::format("wait for interrupt status {:#x}, clear it", w.bits); },
                [](const Stamp&) { return std::string(); },
                [&](const HostStep& h) { return step(h.number); },
            },
            program[i]);
        if (!line.empty()) text += fmt::format("  {:>5} {}\n", i, line);
    }
    return text;
}

std::string recording_description(const MeasuredCase& recorded)
{
    const Recording& recording = recorded.recording;
    std::string text = fmt::format("{}  for {}\n\nmemory before\n", printable(recording.name), machine_name(recorded.hardware));
    const auto port = [&](const Place& place) { return recording.one_memory ? "" : place.primary ? "  DBB" : "  CVSRAM"; };
    for (const MemoryImage& image : recording.images)
        text += fmt::format("  {:#12x} {:>12} bytes{}\n", image.place.address.byte(), image.bytes.size(), port(image.place));
    text += "\nregions that are compared or written\n";
    for (const OutputRegion& region : recording.outputs)
        text += fmt::format("  {:#12x} {:>12} bytes{}{}\n", region.place.address.byte(), region.bytes, port(region.place),
                            region.crc32 ? fmt::format("  CRC-32 {:08x}", *region.crc32) : "");
    text += "\noperations, with the entries that launch their units\n";
    const std::vector<loadable::ProgramOperation> operations = loadable::program_operations(recording.program, recorded.hardware);
    for (std::size_t i = 0; i < operations.size(); ++i) {
        text += fmt::format("  {:>4} {}: {}\n", i + 1, operations[i].units, launches_text(operations[i]));
        for (const RecoveredOperation& part : operations[i].chain) text += part_text(part);
    }
    return text + program_text(recording.program, recorded.hardware, [](std::size_t) { return std::string(); });
}

}  // namespace dlasim
