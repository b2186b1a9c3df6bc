#include "app/sweep/sweep_points.h"

#include <fmt/format.h>

#include "app/interrupt.h"
#include "app/status.h"
#include "app/sweep/point_run.h"
#include "app/sweep/sweep_bounds.h"
#include "app/sweep/sweep_row.h"
#include "base/error.h"
#include "report/nearest_program.h"
#include "silicon/area.h"
#include "sweep/figures.h"

namespace dlasim {

PointRunner::PointRunner(const SweepOptions& options, const Sweep& sweep, const silicon::Technology& technology, SweepFolder& folder)
    : options_(options), sweep_(sweep), technology_(technology), folder_(folder)
{
    read_measured_programs();
}

int PointRunner::run_in_child(std::size_t index, const Children::Tell& tell)
{
    if (!point_) point_ = sweep_point(sweep_, index);  // says here why it cannot be
    const auto on_result = [&](const OrderedJson& result) { tell(figures_text(result)); };
    if (!cannot_meet_.empty()) {
        tell(OrderedJson{{"area_mm2", shown(silicon::area_mm2(technology_, point_->hardware))}}.dump());
        throw ConfigError("require", cannot_meet_ + ": it need not run");
    }
    return run_point(*point_, {.folder = folder_.point(index).string(),
                               .timing_only = options_.timing_only,
                               .causes = options_.causes,
                               .page = options_.pages,
                               .technology = &technology_,
                               .on_result = on_result,
                               .shared = shared_});
}

void PointRunner::prepare(std::size_t index)
{
    folder_.prepare_point(index);
    point_.reset();
    shared_.reset();
    look_at_machine(index);
    try {
        point_ = sweep_point(sweep_, index);
        if (!options_.timing_only && cannot_meet_.empty()) shared_ = layers_.of(*point_);
    } catch (const ConfigError&) {  // the child will say it
    }
}

void PointRunner::look_at_machine(std::size_t index)
{
    if (!question_) return;
    const std::vector<std::size_t>& place = sweep_.points[index];
    std::vector<std::size_t> machine(place.begin(), place.begin() + static_cast<std::ptrdiff_t>(question_->axes.size()));
    if (machine == machine_) return;
    machine_ = std::move(machine);
    cannot_meet_ = machine_cannot_meet(sweep_, index, technology_, *question_);
}

bool PointRunner::run(const Next& next, const Ended& ended)
{
    Children children(
        [&](std::size_t index, const Children::Tell& tell) {
            try {
                return run_in_child(index, tell);
            } catch (const OutputError& error) {
                tell(error.what());
                return static_cast<int>(kNoRoom);
            }
        },
        [&](std::size_t index) { return folder_.point(index); }, options_.limit);
    bool more = true;
    const auto start_some = [&] {
        while (more && children.running() < options_.jobs) {
            const std::optional<std::size_t> index = next();
            more = index.has_value();
            if (!more) return;
            prepare(*index);
            children.start(*index);
        }
    };
    for (start_some(); children.running() != 0;) {
        const std::vector<Children::Ended> list = children.ended();
        if (interrupted()) return false;
        start_some();
        std::vector<KeptPoint> rows;
        rows.reserve(list.size());
        for (const Children::Ended& child : list)
            if (child.status == kNoRoom) throw ConfigError(options_.sweep, child.output + "; --resume continues");
        for (const Children::Ended& child : list)
            rows.push_back(row_of(sweep_, {child.index, child.status, child.output, options_.limit}, folder_.point(child.index)));
        folder_.store().keep(rows);
        for (const KeptPoint& kept : rows) ended(kept);
    }
    return true;
}

}  // namespace dlasim
