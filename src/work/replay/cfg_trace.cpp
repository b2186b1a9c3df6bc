// Public NVDLA traces in the .cfg form: reg_write(..); mem_init(..); mem_load(..); poll_reg_equal(..);
// intr_notify(..); check_crc(..); with data files of {offset:0x.., size:N, payload:0x.. 0x..} lines.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "registers/interrupts.h"
#include "registers/tables.h"
#include "replay/first_launch.h"
#include "replay/notes.h"
#include "replay/recording.h"
#include "replay/text.h"

namespace dlasim {
namespace {

using trace::Line;

/// NVDLA_UNIT.REGISTER_0 to UNIT.REGISTER.
std::string register_name(std::string_view text, const Line& line)
{
    std::string name{trace::trim(text)};
    if (!name.starts_with("NVDLA_") || !name.ends_with("_0") || name.find('.') == std::string::npos)
        line.fail("found register " + name + ", expected NVDLA_UNIT.REGISTER_0");
    return name.substr(6, name.size() - 8);
}

bool is_primary(std::string_view name, const Line& line)
{
    if (name == "pri_mem") return true;
    if (name == "sec_mem") return false;
    line.fail("found memory " + std::string(name) + ", expected pri_mem or sec_mem");
}

/// {offset:0x.., size:N, payload:0x.. 0x..} lines, as one image from the lowest address on.
std::vector<std::uint8_t> read_payload(LineReader in, std::uint64_t& total)
{
    std::vector<std::uint8_t> bytes;
    std::string text;
    for (Line line{in.path().string(), 0}; in.next(text);) {
        line.number = in.number();
        const std::size_t at = text.find("offset:");
        if (at == std::string::npos) continue;
        const std::size_t size = text.find("size:"), payload = text.find("payload:"), close = text.find('}', at);
        if (size == std::string::npos || payload == std::string::npos || close == std::string::npos)
            line.fail("expected {offset:.., size:.., payload:..}");
        const std::uint64_t offset = line.value(std::string_view(text).substr(at + 7, text.find(',', at) - at - 7), trace::kMaxBytes);
        const std::uint64_t count = line.value(std::string_view(text).substr(size + 5, text.find(',', size) - size - 5), 1u << 16);
        if (close < payload + 8) line.fail("expected {offset:.., size:.., payload:..} in this order");
        const auto values = trace::split(std::string_view(text).substr(payload + 8, close - payload - 8), " \t");
        if (values.size() != count) line.fail(fmt::format("{} payload bytes, but size is {}", values.size(), count));
        if (offset + count > bytes.size()) {
            trace::add_bounded(total, offset + count - bytes.size(), line, "loads");
            bytes.resize(offset + count);
        }
        for (std::size_t i = 0; i < count; ++i) bytes[offset + i] = static_cast<std::uint8_t>(line.value(values[i], 0xff));
    }
    return bytes;
}

/// Interrupt name of a trace (SDP_0) to its bit in S_INTR_STATUS. csb.md 3.
std::uint32_t interrupt_bit(std::string_view name, const Line& line)
{
    std::string upper(name);  // cdma_dat_0 is written in either case
    std::transform(upper.begin(), upper.end(), upper.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    const std::uint32_t bit = reg::glb::interrupt_bit(upper);
    if (bit == 0) line.fail("unknown interrupt " + std::string(name));
    return bit;
}

class CfgReader {
public:
    CfgReader(const std::filesystem::path& file, const Hardware& hardware) : file_(file), hardware_(hardware) {}

    Recording read()
    {
        LineReader in(file_, kMaxText);
        recording_.name = file_.stem().string();
        std::string text;
        for (line_.file = file_.string(); in.next(text);) {
            line_.number = in.number();
            if (const std::optional<trace::Note> note = trace::note_of(text, "//", line_)) {
                if (note->entry) recording_.program.push_back(*note->entry);
                continue;
            }
            statement(text);
        }
        mark_first_launch(recording_.program);
        return std::move(recording_);
    }

private:
    void statement(std::string_view text)
    {
        if (const std::size_t comment = text.find("//"); comment != std::string_view::npos) text = text.substr(0, comment);
        text = trace::trim(text);
        if (text.empty()) return;
        const std::size_t open = text.find('('), close = text.rfind(')');
        if (open == std::string_view::npos || close == std::string_view::npos || close < open)
            line_.fail("found \"" + std::string(text.substr(0, 60)) + "\", expected a call");
        const std::string_view name = trace::trim(text.substr(0, open));
        const auto arguments = trace::split(text.substr(open + 1, close - open - 1), ",");
        const auto expect = [&](std::size_t count) {
            if (arguments.size() != count) line_.fail(fmt::format("{} takes {} arguments, found {}", name, count, arguments.size()));
        };
        if (name == "reg_write") {
            expect(2);
            const std::string reg = register_name(arguments[0], line_);
            RegisterWrite write{reg, address(reg), word(arguments[1])};
            if (const std::string missing = missing_.of(write); !missing.empty()) line_.fail(missing);
            recording_.program.push_back(std::move(write));
        } else if (name == "poll_reg_equal") {
            expect(2);
            const std::string reg = register_name(arguments[0], line_);
            recording_.program.push_back(PollRegister{reg, address(reg), 0xffffffff, word(arguments[1])});
        } else if (name == "poll_field_equal" || name == "reg_read_check") {
            expect(2);
            const std::string reg = register_name(arguments[0], line_);
            recording_.program.push_back(RegisterRead{reg, address(reg), true, 0xffffffff, word(arguments[1])});
        } else if (name == "mem_init") {
            expect(4);
            mem_init(arguments);
        } else if (name == "mem_load") {
            expect(3);
            mem_load(arguments);
        } else if (name == "intr_notify") {
            expect(2);
            recording_.program.push_back(WaitStatus{interrupt_bit(arguments[0], line_)});
        } else if (name == "check_crc") {
            expect(5);
            OutputRegion region = trace::checked_region(arguments[2], arguments[3], checked_, line_);
            const bool named = arguments[1] == "pri_mem" || arguments[1] == "sec_mem";  // or a number that says nothing
            region.place.primary = named ? is_primary(arguments[1], line_) : trace::place_of(region.place.address, hardware_).primary;
            region.crc32 = word(arguments[4]);
            recording_.outputs.push_back(std::move(region));
        } else if (name != "check_nothing" && name != "sync_notify" && name != "sync_wait") {
            // check_nothing ends a trace that leaves nothing to check. The others order the threads of the original bench; a program
            // here is one thread already.
            line_.fail("unknown call " + std::string(name));
        }
    }

    void mem_init(const std::vector<std::string_view>& arguments)
    {
        const std::uint64_t count = line_.value(arguments[2], trace::kMaxBytes);
        if (arguments[3] != "ALL_ZERO") line_.fail("found " + std::string(arguments[3]) + ", expected ALL_ZERO");
        trace::add_bounded(total_, count, line_, "loads");
        load(arguments, std::vector<std::uint8_t>(count));
    }
    void mem_load(const std::vector<std::string_view>& arguments)
    {
        std::string_view name = arguments[2];
        if (name.size() >= 2 && name.front() == '"' && name.back() == '"') name = name.substr(1, name.size() - 2);
        load(arguments, read_payload(trace::open_beside(file_, name, line_), total_));
    }
    void load(const std::vector<std::string_view>& arguments, std::vector<std::uint8_t> bytes)
    {
        const Address address{line_.value(arguments[1], UINT64_MAX)};
        trace::expect_addressable(address, bytes.size(), line_);
        recording_.images.push_back({{is_primary(arguments[0], line_), address}, std::move(bytes)});
    }
    std::uint32_t word(std::string_view text) const { return static_cast<std::uint32_t>(line_.value(text, 0xffffffff)); }
    std::uint32_t address(const std::string& reg) const
    {
        const auto found = register_address(hardware_, reg);
        if (!found) line_.fail(trace::no_register(hardware_, reg));
        return *found;
    }

    std::filesystem::path file_;
    const Hardware& hardware_;
    MissingUnits missing_{hardware_};
    Recording recording_;
    Line line_;
    std::uint64_t total_ = 0, checked_ = 0;
};

}  // namespace

Recording read_cfg_trace(const std::filesystem::path& file, const Hardware& hardware) { return CfgReader(file, hardware).read(); }

}  // namespace dlasim
