#include "dlasim/dram_policy.h"

namespace dlasim {

DramLocation DramPolicy::locate(std::uint64_t, const DramLocation& configured) const { return configured; }

DramOrder DramPolicy::order(const DramCandidate&, const DramOrder& configured) const { return configured; }

bool DramPolicy::younger_hit_first(const DramBank&, bool configured) const { return configured; }

bool DramPolicy::closes_row(const DramBank&, bool configured) const { return configured; }

bool DramPolicy::refreshes_now(const DramRefresh&) const { return false; }

}  // namespace dlasim
