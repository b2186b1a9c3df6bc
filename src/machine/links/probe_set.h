#pragma once
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/phase.h"
#include "links/probe.h"
#include "links/run_log.h"

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
    /// The beats of a memory client: those of `probe`, else of a probe of its own.
    Probe* client(const std::string& name, Probe* probe)
    {
        if (!probe) probe = own_clients_.emplace_back(std::make_unique<Probe>()).get();
        clients_.emplace_back(name, probe);
        return probe;
    }
    const std::vector<std::pair<std::string, const Probe*>>& all_clients() const { return clients_; }
    /// How full something is, by name.
    Level* level(const std::string& name) { return &levels_[name]; }
    const std::map<std::string, Level>& all_levels() const { return levels_; }
    /// Layers of the register groups of a unit.
    std::vector<GroupUse>* groups(const std::string& unit) { return &groups_[unit]; }
    const std::map<std::string, std::vector<GroupUse>>& all_groups() const { return groups_; }
    StripeLog* stripes() { return &stripes_; }
    const StripeLog& all_stripes() const { return stripes_; }
    const std::map<std::string, PhaseHistory>& all_phases() const { return phases_; }
    const std::map<std::string, std::shared_ptr<Probe>>& all() const { return probes_; }

private:
    std::map<std::string, std::shared_ptr<Probe>> probes_;
    std::vector<std::unique_ptr<Probe>> own_clients_;
    std::vector<std::pair<std::string, const Probe*>> clients_;
    std::map<std::string, PhaseHistory> phases_;
    std::map<std::string, Level> levels_;
    std::map<std::string, std::vector<GroupUse>> groups_;
    StripeLog stripes_;
};

}  // namespace dlasim
