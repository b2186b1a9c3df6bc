// Tilings that a search has found, for passes that recur: networks have many equal layers.
#pragma once
#include <map>
#include <string>

#include "lowering/pass.h"

namespace dlasim {

/// While one is alive, this thread searches once for the passes of equal shape of one machine.
class KnownCuts {
public:
    KnownCuts();
    ~KnownCuts();
    KnownCuts(const KnownCuts&) = delete;
    KnownCuts& operator=(const KnownCuts&) = delete;
    static KnownCuts* current();

    const CutWay* find(const std::string& key) const
    {
        const auto known = cuts_.find(key);
        return known == cuts_.end() ? nullptr : &known->second;
    }
    void add(const std::string& key, const CutWay& cut) { cuts_.emplace(key, cut); }

private:
    std::map<std::string, CutWay> cuts_;
    KnownCuts* const before_;
};

/// All of a pass that decides how it is cut.
std::string key_of(const Pass& pass, const Partition& wish, bool by_kernels);

}  // namespace dlasim
