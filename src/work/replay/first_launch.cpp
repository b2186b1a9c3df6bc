#include "replay/first_launch.h"

#include <fmt/format.h>

#include <set>

#include "facts/optional_units.h"
#include "registers/fields/groups.h"
#include "registers/fields/sdp.h"

namespace dlasim {
namespace {

bool launches(std::string_view name) { return name.ends_with(".D_OP_ENABLE") || name.starts_with("BDMA.CFG_LAUNCH"); }

const RegisterWrite* enable(const ProgramEntry& entry)
{
    const auto* write = std::get_if<RegisterWrite>(&entry);
    return write && (write->value & 1) && launches(write->name) ? write : nullptr;
}

bool waits_for_interrupt(const ProgramEntry& entry)
{
    if (const auto* poll = std::get_if<PollRegister>(&entry))
        return poll->name == "GLB.S_INTR_STATUS" && (poll->expected & poll->mask) != 0;
    return std::holds_alternative<WaitPin>(entry) || std::holds_alternative<WaitInterrupt>(entry) ||
           std::holds_alternative<WaitStatus>(entry);
}

}  // namespace

void mark_first_launch(Program& program)
{
    std::set<std::string> started;
    std::size_t mark = 0;  // entries before it
    for (std::size_t i = 0; i < program.size(); ++i) {
        if (std::holds_alternative<MarkT0>(program[i])) return;
        if (!started.empty() && waits_for_interrupt(program[i])) break;
        const RegisterWrite* write = enable(program[i]);
        if (!write || !started.insert(write->name).second) continue;
        mark = i + 1;
        if (write->name == "CDMA.D_OP_ENABLE") break;
    }
    for (std::size_t i = mark; i < program.size(); ++i)
        if (std::holds_alternative<MarkT0>(program[i])) return;
    if (mark != 0) program.insert(program.begin() + static_cast<std::ptrdiff_t>(mark), MarkT0{});
}

std::string MissingUnits::of(const RegisterWrite& write)
{
    namespace groups = reg::groups;
    const auto missing = [&](std::string_view what, const std::string& how, const char* with) {
        return fmt::format("switches on {}{}, which {} does not have: expected a machine with it, such as {}", what, how, hardware_.name,
                           with);
    };
    if (write.name == "SDP.S_POINTER") producer_ = groups::S_POINTER::PRODUCER.get(write.value);
    else if (write.name == "SDP.D_DP_EW_CFG") ew_[producer_] = write.value;
    if (!(write.value & 1)) return "";
    if (write.name == "SDP.D_OP_ENABLE" && !hardware_.sdp.has_ew && !reg::sdp::D_DP_EW_CFG::EW_BYPASS.get(ew_[producer_]))
        return missing("SDP.EW", fmt::format(" (SDP.D_DP_EW_CFG {:#x})", ew_[producer_]), "nv_small_256_full");
    const auto* lacks = facts::missing_unit(hardware_, std::string_view(write.name).substr(0, write.name.find('.')));
    if (!lacks || !launches(write.name)) return "";
    return missing(lacks->name, lacks->name == lacks->window ? "" : fmt::format(" ({})", lacks->window), "nv_full");
}

}  // namespace dlasim
