// Runs points of a sweep, some side by side, and keeps each that has ended.
//
//   next() ──► sweep_point() ──► child (sweep_children.h) ──► figures ──► row ──► DIR/points.db ──► ended(row)
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/commands/sweep_command.h"
#include "app/sweep/sweep_children.h"
#include "app/sweep/sweep_folder.h"
#include "app/sweep/sweep_shared.h"
#include "config/sweep/sweep.h"
#include "silicon/technology.h"
#include "sweep/machines.h"

namespace dlasim {

class PointRunner {
public:
    PointRunner(const SweepOptions& options, const Sweep& sweep, const silicon::Technology& technology, SweepFolder& folder);
    /// Machines that cannot meet it, as is known before, do not run.
    void skip_infeasible_machines(const MachineQuestion& question) { question_ = &question; }

    using Next = std::function<std::optional<std::size_t>()>;
    using Ended = std::function<void(const KeptPoint&)>;
    /// Runs what `next` gives until it gives none and all have ended. `ended` gets the rows, which are kept then.
    /// False after an interrupt: points that run are ended.
    bool run(const Next& next, const Ended& ended);

private:
    int run_in_child(std::size_t index, const Children::Tell& tell);
    void prepare(std::size_t index);
    void look_at_machine(std::size_t index);

    const SweepOptions& options_;
    const Sweep& sweep_;
    const silicon::Technology& technology_;
    SweepFolder& folder_;
    const MachineQuestion* question_ = nullptr;
    SharedLayers layers_;
    std::vector<std::size_t> machine_;  // of the point that was started last
    std::string cannot_meet_;           // why it need not run
    // Of the point that is started next: its child finds them here.
    std::optional<SweepPoint> point_;
    std::shared_ptr<const SharedLayer> shared_;
};

}  // namespace dlasim
