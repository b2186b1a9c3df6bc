#include "replay/write_case.h"

#include <fmt/format.h>

#include "base/error.h"
#include "config/machine/hardware.h"
#include "facts/presets.h"

namespace dlasim {
namespace {

using OrderedJson = nlohmann::ordered_json;

template <class... F>
struct Cases : F... {
    using F::operator()...;
};
template <class... F>
Cases(F...) -> Cases<F...>;

/// An entry of the program; null for what a case does without.
OrderedJson entry_json(const ProgramEntry& entry)
{
    return std::visit(Cases{
                          [](const RegisterWrite& w) -> OrderedJson {
                              return {w.name, w.value};
                          },
                          [](const RegisterRead& r) -> OrderedJson {
                              return {"READ", r.name};
                          },
                          [](const MarkT0&) -> OrderedJson {
                              return {"MARK", "t0"};
                          },
                          [](const WaitInterrupt& w) -> OrderedJson {
                              return {"WAIT_INTR", w.name};
                          },
                          [](const PollRegister& p) -> OrderedJson {
                              return {"POLL", {{"register", p.name}, {"mask", p.mask}, {"value", p.expected}}};
                          },
                          [](const WaitPin&) -> OrderedJson {
                              return {"WAIT_PIN", ""};
                          },
                          [](const WaitStatus& w) -> OrderedJson {
                              return {"WAIT_STATUS", w.bits};
                          },
                          [](const Stamp&) -> OrderedJson { return nullptr; },
                          [](const HostStep&) -> OrderedJson { return nullptr; },
                      },
                      entry);
}

std::string hex_text(const std::vector<std::uint8_t>& bytes)
{
    constexpr const char* kDigits = "0123456789abcdef";
    std::string text;
    text.reserve(2 * bytes.size());
    for (const std::uint8_t byte : bytes) {
        text += kDigits[byte >> 4];
        text += kDigits[byte & 15];
    }
    return text;
}

OrderedJson memory_of(const MeasuredCase& measured)
{
    const MemorySpec& memory = measured.memory;
    if (memory.kind != "ideal") throw ConfigError("--memory", "found " + memory.kind + ", expected ideal: a case has no other memory");
    OrderedJson json{
        {"read_latency", memory.read_latency}, {"beat_interval", memory.beat_interval}, {"write_latency", memory.write_latency}};
    if (memory.command_interval != 1) json["command_interval"] = memory.command_interval;
    if (memory.write_interval != 1) json["write_interval"] = memory.write_interval;
    return json;
}

}  // namespace

OrderedJson case_json(const MeasuredCase& measured, const OrderedJson& expected)
{
    const Recording& recording = measured.recording;
    OrderedJson json{{"id", recording.name}, {"config", measured.hardware.name}};
    const Hardware* preset = find_preset(measured.hardware.name);
    if (!preset || hardware_json(*preset) != hardware_json(measured.hardware)) json["hardware"] = hardware_json(measured.hardware);
    json["memory"] = memory_of(measured);
    json["layers"] = OrderedJson::array();
    OrderedJson fills = OrderedJson::array();
    for (const MemoryImage& image : recording.images)
        if (!image.bytes.empty())
            fills.push_back(
                {{"addr", fmt::format("{:x}", image.place.address.byte())}, {"bytes", image.bytes.size()}, {"hex", hex_text(image.bytes)}});
    json["memory_fill"] = std::move(fills);
    OrderedJson program = OrderedJson::array();
    for (const ProgramEntry& entry : recording.program)
        if (OrderedJson written = entry_json(entry); !written.is_null()) program.push_back(std::move(written));
    json["program"] = std::move(program);
    json["finished"] = true;
    json["expected"] = expected;
    return json;
}

}  // namespace dlasim
