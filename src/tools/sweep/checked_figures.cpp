#include "sweep/checked_figures.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "sweep/shared_machine.h"

namespace dlasim {

double CheckedFigure::margin() const { return value ? requirement->margin(*value) : -std::numeric_limits<double>::infinity(); }

std::string CheckedFigure::text() const
{
    const std::string of = workload.empty() ? "" : workload + ": ";
    if (!value) return fmt::format("{}{} has no value", of, requirement->column);
    if (requirement->condition) return fmt::format("{}{} {}", of, requirement->text(), met() ? "holds" : "does not hold");
    if (requirement->number == 0) return fmt::format("{}{} {:.4g}, expected {} 0", of, requirement->column, *value, requirement->sign());
    const double share = std::abs(100 * margin());
    return fmt::format("{}{} {:.4g}, {:.3g} % {} {:g}{}", of, requirement->column, *value, share,
                       (margin() >= 0) == requirement->upper() ? "below" : "above", requirement->number,
                       std::abs(margin()) < error ? fmt::format(", inside the model's error of {:.0f} %", 100 * error) : "");
}

std::vector<CheckedFigure> checked(const SweptMachine& machine, const MachineQuestion& question)
{
    std::vector<CheckedFigure> list;
    for (const AskedWorkload& workload : question.workloads) {
        const std::string prefix = workload.name.empty() ? "" : workload.name + ".";
        const auto look = [&](const Requirement& r) {
            // Area and what else a machine has once is checked once.
            const bool once = r.column == "area_mm2" || question.is_of_machine(r.column);
            if (once && &workload != &question.workloads.front()) return;
            list.push_back(
                {once ? "" : workload.name, &r, figure_of(machine.row, once ? r.column : prefix + r.column), question.error_of(r.column)});
        };
        for (const Requirement& r : question.require) look(r);
        if (question.rated())
            for (const Requirement& r : load_requirement()) look(r);
        for (const Requirement& r : workload.deadline) look(r);
        for (const Requirement& r : workload.require) look(r);
    }
    return list;
}

}  // namespace dlasim
