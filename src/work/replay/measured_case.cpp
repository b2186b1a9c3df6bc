// Measured cases: the format of interfaces.md 3.
#include <fmt/format.h>

#include "base/error.h"
#include "base/files/printable.h"
#include "base/quantity.h"
#include "config/file_kind.h"
#include "config/json_object.h"
#include "config/machine/hardware.h"
#include "facts/presets.h"
#include "registers/tables.h"
#include "replay/first_launch.h"
#include "replay/json_place.h"
#include "replay/recording.h"
#include "replay/text.h"

namespace dlasim {
namespace {

using trace::no_register;

// What a case may fill, and read back, in all. Far above any real layer, far below what would hurt.
constexpr std::uint64_t kMaxFill = 1u << 30;

void expect_addressable(Address address, std::uint64_t bytes, const JsonPlace& place)
{
    if (!addressable(address, bytes))
        place.fail(fmt::format("{} bytes from address {:#x} on go beyond the last address", bytes, address.byte()));
}

/// The byte generator of tests/data/README.md.
std::vector<std::uint8_t> generate(std::uint32_t seed, std::size_t count)
{
    std::uint32_t x = seed * 2654435761u + 12345u;
    std::vector<std::uint8_t> bytes(count);
    for (std::uint8_t& byte : bytes) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        byte = static_cast<std::uint8_t>(x >> 11);
    }
    return bytes;
}

ProgramEntry program_entry(const Json& entry, const Hardware& hardware, const JsonPlace& place)
{
    if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string()) place.fail(found(entry) + ", expected [name, value]");
    const std::string name = entry[0];
    const auto text = [&] {
        if (!entry[1].is_string()) place.at(1).fail(found(entry[1]) + ", expected a string");
        return entry[1].get<std::string>();
    };
    const auto address = [&](const std::string& reg) {
        const auto known = register_address(hardware, reg);
        if (!known) place.fail(no_register(hardware, reg));
        return *known;
    };
    if (name == "MARK") {
        if (text() != "t0") place.at(1).fail(found(entry[1]) + ", expected t0");
        return MarkT0{};
    }
    if (name == "WAIT_INTR") return WaitInterrupt{text()};
    if (name == "WAIT_PIN") return WaitPin{};
    if (name == "WAIT_STATUS") return WaitStatus{static_cast<std::uint32_t>(number(entry[1], place.at(1), 1, 0xffffffff))};
    if (name == "POLL") {
        const JsonPlace at = place.at(1);
        const auto word = [&](const char* key) {
            return static_cast<std::uint32_t>(number(member(entry[1], key, at), at.at(key), 0, 0xffffffff));
        };
        const Json& reg = member(entry[1], "register", at);
        if (!reg.is_string()) at.at("register").fail(found(reg) + ", expected UNIT.REGISTER");
        return PollRegister{reg, address(reg), word("mask"), word("value")};
    }
    if (name == "READ") return RegisterRead{.name = text(), .address = address(text()), .check = false, .mask = 0, .expected = 0};
    return RegisterWrite{name, address(name), static_cast<std::uint32_t>(number(entry[1], place.at(1), 0, 0xffffffff))};
}

MemorySpec memory_spec(const Json& json, const JsonPlace& place)
{
    MemorySpec spec;
    const auto read = [&](const char* key, std::uint32_t& value, std::uint32_t low) {
        if (json.contains(key)) value = static_cast<std::uint32_t>(number(json[key], place.at(key), low, 1u << 20));
    };
    if (!json.is_object()) place.fail("expected an object");
    read("read_latency", spec.read_latency, 1);
    read("beat_interval", spec.beat_interval, 1);
    read("write_latency", spec.write_latency, 1);
    read("command_interval", spec.command_interval, 1);
    read("write_interval", spec.write_interval, 1);
    return spec;
}

MemoryImage memory_fill(const Json& fill, const JsonPlace& place, std::uint64_t& total)
{
    MemoryImage image;
    image.place.address = Address{hex_number(member(fill, "addr", place), place.at("addr"))};
    const std::uint64_t count = number(member(fill, "bytes", place), place.at("bytes"), 0, kMaxFill);
    expect_addressable(image.place.address, count, place.at("bytes"));
    if ((total += count) > kMaxFill) place.at("bytes").fail("the fills exceed 1 GiB in all");
    if (fill.contains("hex")) {
        if (!fill["hex"].is_string()) place.at("hex").fail("expected a string");
        image.bytes = hex_bytes(fill["hex"], place.at("hex"));
        if (image.bytes.size() > count) place.at("hex").fail(fmt::format("{} bytes, but bytes is {}", image.bytes.size(), count));
    } else {
        image.bytes = generate(static_cast<std::uint32_t>(number(member(fill, "seed", place), place.at("seed"), 0, 0xffffffff)), count);
    }
    return image;
}

/// What the region must hold, where the case says so.
void read_content(OutputRegion& region, const Json& json, const JsonPlace& place)
{
    if (json.contains("crc32")) {
        const std::uint64_t crc = hex_number(json["crc32"], place.at("crc32"));
        if (crc > UINT32_MAX) place.at("crc32").fail(found(json["crc32"]) + ", expected eight hexadecimal digits");
        region.crc32 = static_cast<std::uint32_t>(crc);
    }
    if (!json.contains("hex")) return;
    if (!json["hex"].is_string()) place.at("hex").fail("expected a string");
    region.content = hex_bytes(json["hex"], place.at("hex"));
    if (region.content.size() > region.bytes)
        place.at("hex").fail(fmt::format("{} bytes, but bytes is {}", region.content.size(), region.bytes));
}

}  // namespace

MeasuredCase read_measured_case(const std::filesystem::path& file, const std::optional<Hardware>& hardware)
{
    return parse_measured_case(read_text(file.string()), file, hardware);
}

MeasuredCase parse_measured_case(const std::string& text, const std::filesystem::path& file, const std::optional<Hardware>& hardware)
{
    return measured_case(parse_json(text, file.string()), file, hardware);
}

MeasuredCase measured_case(const Json& json, const std::filesystem::path& file, const std::optional<Hardware>& hardware)
{
    const JsonPlace root{file.string(), ""};
    expect_kind(json, root.file, FileKind::Case);
    MeasuredCase result;
    const Json& config = member(json, "config", root);
    if (json.contains("hardware")) {
        // A label that is a preset's name is what the object is laid over if it names none itself.
        const std::string label = config.is_string() ? config.get<std::string>() : "";
        result.hardware = read_hardware(json["hardware"], root.file, "/hardware", find_preset(label) ? label : "");
    } else {
        const std::string name = config.is_string() ? config.get<std::string>() : "";
        const Hardware* preset = find_preset(name);
        if (preset) result.hardware = *preset;
        else if (!hardware) root.at("config").fail(found(config) + ", expected a hardware preset");
    }
    if (hardware) {
        result.same_hardware = hardware_json(result.hardware) == hardware_json(*hardware);
        result.hardware = *hardware;
    }
    result.memory = memory_spec(member(json, "memory", root), root.at("memory"));
    Recording& recording = result.recording;
    recording.name = file.stem().string();
    if (json.contains("id")) {
        if (!json["id"].is_string()) root.at("id").fail(found(json["id"]) + ", expected a name");
        recording.name = json["id"].get<std::string>();
        if (recording.name.size() > kMaxLetters)
            root.at("id").fail(fmt::format("found a name of {} bytes, expected at most {}", recording.name.size(), kMaxLetters));
    }
    recording.one_memory = recording.flushed = true;
    const Json& program = member(json, "program", root);
    if (!program.is_array() || program.empty()) root.at("program").fail("expected a list of program entries");
    MissingUnits units(result.hardware);
    for (std::size_t i = 0; i < program.size(); ++i) {
        const JsonPlace place = root.at("program").at(i);
        recording.program.push_back(program_entry(program[i], result.hardware, place));
        if (const auto* write = std::get_if<RegisterWrite>(&recording.program.back()))
            if (const std::string missing = units.of(*write); !missing.empty()) place.fail(missing);
    }
    std::uint64_t total = 0;
    const Json& fills = list_or_none(json, "memory_fill", root);
    for (std::size_t i = 0; i < fills.size(); ++i) recording.images.push_back(memory_fill(fills[i], root.at("memory_fill").at(i), total));
    if (!json.contains("expected")) return result;
    if (!json["expected"].is_object()) root.at("expected").fail(found(json["expected"]) + ", expected an object");
    const Json& outputs = list_or_none(json["expected"], "output", root.at("expected"));
    bool finished = true;
    if (json.contains("finished")) {
        if (!json["finished"].is_boolean()) root.at("finished").fail(found(json["finished"]) + ", expected true or false");
        finished = json["finished"];
    }
    result.expected = read_expectation(json["expected"], finished, root.at("expected"));
    std::uint64_t read_back = 0;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const JsonPlace place = root.at("expected").at("output").at(i);
        OutputRegion region;
        region.place.address = Address{hex_number(member(outputs[i], "addr", place), place.at("addr"))};
        region.bytes = number(member(outputs[i], "bytes", place), place.at("bytes"), 0, kMaxFill);
        expect_addressable(region.place.address, region.bytes, place.at("bytes"));
        if ((read_back += region.bytes) > kMaxFill) place.at("bytes").fail("the regions exceed 1 GiB in all");
        region.source = place.pointer;
        read_content(region, outputs[i], place);
        recording.outputs.push_back(std::move(region));
    }
    return result;
}

}  // namespace dlasim
