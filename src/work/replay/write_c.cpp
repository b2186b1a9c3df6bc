#include "replay/write_c.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/files/printable.h"
#include "registers/tables.h"
#include "replay/events.h"

namespace dlasim {
namespace {

constexpr std::size_t kBytesOfRow = 24;

/// A name that ends no comment.
std::string comment_text(const std::string& name)
{
    std::string text = printable(name);
    std::replace(text.begin(), text.end(), '*', '_');
    return text;
}

template <class... F>
struct Steps : F... {
    using F::operator()...;
};
template <class... F>
Steps(F...) -> Steps<F...>;

std::string step_text(const ProgramEntry& entry, const std::string& name, std::uint32_t status)
{
    const auto step = [](const char* kind, std::uint32_t address, std::uint32_t value, std::uint32_t mask, const std::string& says) {
        return fmt::format("    {{{}, {:#07x}, {:#010x}, {:#010x}}}, /* {} */\n", kind, address, value, mask, says);
    };
    return std::visit(
        Steps{[&](const RegisterWrite& w) { return step("NVDLA_WRITE", w.address, w.value, 0, w.name); },
              [&](const PollRegister& p) { return step("NVDLA_POLL", p.address, p.expected, p.mask, p.name); },
              [&](const WaitInterrupt& w) { return step("NVDLA_WAIT", status, 0, 0, w.name); },
              [&](const WaitStatus& w) { return step("NVDLA_WAIT_BITS", status, w.bits, w.bits, "GLB.S_INTR_STATUS"); },
              [&](const auto& other) -> std::string {
                  using Entry = std::decay_t<decltype(other)>;
                  if constexpr (std::is_same_v<Entry, MarkT0> || std::is_same_v<Entry, Stamp> || std::is_same_v<Entry, HostStep>) return "";
                  else throw ConfigError(name, "reads registers, which the driver has no step for");
              }},
        entry);
}

}  // namespace

std::string c_program(const Recording& recording, const Hardware& hardware)
{
    std::string text = "/* " + comment_text(recording.name) + ", written by dlasim: include nvdla_driver.h first. */\n";
    std::string images, regions;
    for (std::size_t i = 0; i < recording.images.size(); ++i) {
        const MemoryImage& image = recording.images[i];
        text += fmt::format("static const uint8_t nvdla_bytes_{}[] = {{", i);
        for (std::size_t k = 0; k < image.bytes.size(); ++k)
            text += fmt::format("{}{},", k % kBytesOfRow == 0 ? "\n    " : "", image.bytes[k]);
        text += "\n};\n";
        images += fmt::format("    {{{:#x}, {}, nvdla_bytes_{}, {}}},\n", image.place.address.byte(), image.bytes.size(), i,
                              image.place.primary ? 0 : 1);
    }
    for (const OutputRegion& region : recording.outputs)
        regions += fmt::format("    {{{:#x}, {}, {:#010x}, {}}},\n", region.place.address.byte(), region.bytes, crc32_of(region.content),
                               region.place.primary ? 0 : 1);
    text += "static const struct nvdla_image nvdla_images[] = {\n" + images + "};\n";
    text += "static const struct nvdla_region nvdla_outputs[] = {\n" + regions + "};\n";
    text += "static const struct nvdla_step nvdla_program[] = {\n";
    for (const ProgramEntry& entry : recording.program)
        text += step_text(entry, recording.name, *register_address(hardware, "GLB.S_INTR_STATUS"));
    return text + "};\n";
}

}  // namespace dlasim
