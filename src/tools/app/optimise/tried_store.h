// DIR/optimise.db, an SQLite file: what a search has simulated, by digests of what decides it, so that a later one goes on from there.
// Any number of networks and machines; the oldest rows go first. A file that cannot be used is ignored with a warning, and the
// search begins from nothing.
#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/optimise/candidate.h"
#include "base/files/claims.h"
#include "sweep/database.h"

namespace dlasim {

class TriedStore {
public:
    static constexpr std::size_t kMostRows = 20'000;  // about a KiB each

    /// `identity`: digest of all but the candidate. No file: what is kept is known to this process only.
    TriedStore(const std::optional<std::filesystem::path>& file, std::string identity);

    /// Null if it was not tried.
    const TrialOutcome* find(const std::string& candidate) const;
    /// In the file after commit().
    void keep(const std::string& candidate, const TrialOutcome& outcome);
    void commit();

private:
    void read();
    void ignore(const std::string& why);

    std::string identity_;
    std::optional<OutputClaim> claim_;
    std::optional<Database> database_;
    std::map<std::string, TrialOutcome> known_;  // by digest of the candidate
    std::vector<std::string> fresh_;             // not in the file
};

}  // namespace dlasim
