#include "report/loadable_description.h"

#include <fmt/format.h>

#include "base/files/printable.h"
#include "config/machine/hardware.h"
#include "report/program_description.h"

namespace dlasim {
namespace {

using loadable::Cube;
using loadable::HardwareTask;
using loadable::Link;
using loadable::MemoryEntry;
using loadable::Operation;

std::string memories_text(const loadable::LoadablePlan& plan)
{
    std::string text = fmt::format("memories\n  {:>3} {:>12} {:>12}  {:<8} {}\n", "", "address", "bytes", "", "holds");
    for (std::size_t m = 0; m < plan.loadable->memories.size(); ++m) {
        const MemoryEntry& memory = plan.loadable->memories[m];
        std::string holds;
        const auto bound = [&](MemoryEntry::Flag flag, const char* what) {
            if (!memory.is(flag) || memory.tensor >= plan.loadable->tensors.size()) return;
            const loadable::TensorEntry& t = plan.loadable->tensors[memory.tensor];
            holds += fmt::format("{} {}: {} [{}, {}, {}, {}]", what, memory.bind, printable(t.name), t.n, t.c, t.h, t.w);
        };
        bound(MemoryEntry::Input, "input");
        bound(MemoryEntry::Output, "output");
        for (const loadable::Content& content : memory.contents)
            holds += fmt::format("{}{}", holds.empty() ? "" : ", ", printable(plan.loadable->blobs[content.blob].name));
        text += fmt::format("  {:>3} {:#12x} {:>12}  {:<8} {}\n", m, plan.memories->base(m).address.byte(), memory.size,
                            memory.domain == 0 ? "DBB" : "CVSRAM", holds);
    }
    return text;
}

std::string cube_text(const loadable::LoadablePlan& plan, const HardwareTask& task, const Cube* cube)
{
    if (!cube) return "";
    std::string text = fmt::format("{} x {} x {}", cube->width, cube->height, cube->channels);
    if (cube->on_the_fly()) return text + " on the fly";
    if (cube->address < 0) return text;
    const Address at = plan.memories->place(plan.loadable->tasks[task.task], cube->address, task.where).address + cube->offset;
    return text + fmt::format(" at {:#x}", at.byte());
}

std::string links_text(const Operation& o)
{
    constexpr const char* kEvents[] = {"none", "completed", "programmed", "enabled", "weights done", "data done"};
    std::string text;
    const auto add = [&](const Link& link) {
        if (link.operation >= 0)
            text +=
                fmt::format("{}{} when {}", text.empty() ? "notifies " : ", ", link.operation, link.event < 6 ? kEvents[link.event] : "?");
    };
    for (const Link& link : o.consumers) add(link);
    add(o.fused_parent);
    return text;
}

std::string task_text(const loadable::LoadablePlan& plan, const HardwareTask& task)
{
    std::string text = fmt::format("\ntask {}, hardware, interface {}\n", task.task, loadable::text(task.version));
    for (std::size_t i = 0; i < task.operations.size(); ++i) {
        const Operation& o = task.operations[i];
        text += fmt::format("  {:>4} {:<6} waits for {}; {}\n", i, o.name(), o.dependencies, links_text(o));
        if (o.source()) text += fmt::format("       {} to {}\n", cube_text(plan, task, o.source()), cube_text(plan, task, o.destination()));
    }
    return text;
}

}  // namespace

std::string loadable_description(const loadable::LoadablePlan& plan)
{
    std::string text = fmt::format("{}  version {}, for {}\n\n", printable(plan.loadable->file), loadable::text(plan.loadable->version),
                                   machine_name(plan.hardware));
    text += memories_text(plan);
    for (const HardwareTask& task : plan.tasks) text += task_text(plan, task);
    for (const loadable::HostTask& host : plan.hosts) {
        text += fmt::format("\ntask {}, host\n", host.task);
        for (const loadable::HostOperation& o : host.operations)
            text += fmt::format("  {} of {} x {} x {}\n", o.type == loadable::HostOperation::Type::Power ? "power" : "softmax",
                                o.source.width, o.source.height, o.source.channels);
    }
    text += fmt::format("\nchains, mode {}\n", loadable::kModeNames[static_cast<std::size_t>(plan.options.mode)]);
    for (std::size_t k = 0; k < plan.chains.size(); ++k) text += fmt::format("  {:>4} operations {}\n", k, fmt::join(plan.chains[k], ", "));
    return text + program_text(plan.program, plan.hardware, [&](std::size_t step) {
               const loadable::HostAction& action = plan.actions[step];
               return action.kind == loadable::HostAction::Kind::Task ? fmt::format("task {}, CPU fallback", plan.hosts[action.number].task)
                                                                      : "";
           });
}

}  // namespace dlasim
