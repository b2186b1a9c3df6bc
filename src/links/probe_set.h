#pragma once
#include <map>
#include <memory>
#include <string>

#include "base/phase.h"
#include "links/probe.h"

namespace dlasim {

/// The probes of a run by name. A run without events has no set and no probe.
class ProbeSet {
public:
    Probe* get(const std::string& name)
    {
        auto& probe = probes_[name];
        if (!probe) probe = std::make_shared<Probe>();
        return probe.get();
    }
    /// Another name of the probe `of`.
    void also(const std::string& name, const std::string& of) { probes_[name] = probes_.at(of); }
    /// The phases of a unit, by the name that it reports.
    PhaseHistory* phases(const std::string& unit) { return &phases_[unit]; }
    const std::map<std::string, PhaseHistory>& all_phases() const { return phases_; }
    const std::map<std::string, std::shared_ptr<Probe>>& all() const { return probes_; }

private:
    std::map<std::string, std::shared_ptr<Probe>> probes_;
    std::map<std::string, PhaseHistory> phases_;
};

}  // namespace dlasim
