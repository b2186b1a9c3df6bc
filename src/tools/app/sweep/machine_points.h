// The points of each machine of a sweep, by workload. Without workloads a point is a machine.
#pragma once
#include <map>
#include <optional>
#include <vector>

#include "config/sweep/sweep.h"
#include "sweep/machines.h"

namespace dlasim {

class MachinePoints {
public:
    MachinePoints(const Sweep& sweep, const MachineQuestion& question)
    {
        const std::size_t axes = question.axes.size();
        for (std::size_t i = 0; i < sweep.points.size(); ++i) {
            const std::vector<std::size_t>& point = sweep.points[i];
            const std::vector<std::size_t> place(point.begin(), point.begin() + static_cast<std::ptrdiff_t>(axes));
            const auto [there, fresh] = numbers_.try_emplace(place, places_.size());
            if (fresh) {
                places_.push_back(place);
                points_.emplace_back(question.workloads.size());
            }
            points_[there->second][point.size() > axes ? point.back() : 0] = i;
        }
    }
    const std::vector<std::vector<std::size_t>>& places() const { return places_; }
    std::optional<std::size_t> at(const std::vector<std::size_t>& place) const
    {
        const auto there = numbers_.find(place);
        return there == numbers_.end() ? std::nullopt : std::optional(there->second);
    }
    /// By workload; none where it is excluded.
    const std::vector<std::optional<std::size_t>>& points(std::size_t machine) const { return points_[machine]; }

private:
    std::map<std::vector<std::size_t>, std::size_t> numbers_;
    std::vector<std::vector<std::size_t>> places_;
    std::vector<std::vector<std::optional<std::size_t>>> points_;
};

}  // namespace dlasim
