// Cuts that a search has found, for passes that come again: networks have many equal layers.
#pragma once
#include <map>
#include <string>

#include "lowering/pass.h"

namespace dlasim {

/// What makes a cut again: the pass as it is, or the limits per part.
struct KnownCut {
    bool whole = false;
    std::uint32_t columns = 0;
    bool phases = false;
    std::uint32_t kernels = 0, rows = 0;
};

/// While one is alive, this thread searches once for the passes of equal shape of one machine.
class KnownCuts {
public:
    KnownCuts();
    ~KnownCuts();
    KnownCuts(const KnownCuts&) = delete;
    KnownCuts& operator=(const KnownCuts&) = delete;
    static KnownCuts* current();

    const KnownCut* find(const std::string& key) const
    {
        const auto known = cuts_.find(key);
        return known == cuts_.end() ? nullptr : &known->second;
    }
    void add(const std::string& key, const KnownCut& cut) { cuts_.emplace(key, cut); }

private:
    std::map<std::string, KnownCut> cuts_;
    KnownCuts* const before_;
};

/// All of a pass that decides how it is cut.
std::string key_of(const Pass& pass, Minimise minimise, bool by_kernels);

}  // namespace dlasim
