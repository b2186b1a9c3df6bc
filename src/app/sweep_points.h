// Runs points of a sweep, some side by side, and keeps each that has ended.
//
//   next() ──► sweep_point() ──► child (sweep_children.h) ──► figures ──► row ──► DIR/points.db ──► ended(row)
#pragma once
#include <functional>
#include <memory>
#include <optional>

#include "app/sweep_children.h"
#include "app/sweep_command.h"
#include "app/sweep_folder.h"
#include "app/sweep_shared.h"
#include "config/sweep.h"
#include "silicon/technology.h"

namespace dlasim {

class PointRunner {
public:
    PointRunner(const SweepOptions& options, const Sweep& sweep, const silicon::Technology& technology, SweepFolder& folder);

    using Next = std::function<std::optional<std::size_t>()>;
    using Ended = std::function<void(const KeptPoint&)>;
    /// Runs what `next` gives until it gives none and all have ended. `ended` gets the rows, which are kept then.
    /// False after an interrupt: points that run are ended.
    bool run(const Next& next, const Ended& ended);

private:
    int run_in_child(std::size_t index, const Children::Tell& tell);
    void prepare(std::size_t index);

    const SweepOptions& options_;
    const Sweep& sweep_;
    const silicon::Technology& technology_;
    SweepFolder& folder_;
    SharedLayers layers_;
    // Of the point that is started next: its child finds them here.
    std::optional<SweepPoint> point_;
    std::shared_ptr<const SharedLayer> shared_;
};

}  // namespace dlasim
