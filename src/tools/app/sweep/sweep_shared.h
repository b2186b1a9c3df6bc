// What points of the same layer have in common: its tensors, and the golden output where no size of the machine changes it. Made once, by
// the process that forks the points, from the second point of a layer on.
#pragma once
#include <list>
#include <memory>
#include <string>

#include "config/sweep/sweep.h"
#include "lowering/memory/layer_contents.h"

namespace dlasim {

class SharedLayers {
public:
    /// Null where a point has nothing to share: another point of the same work has not been seen, it is no layer, it is too large.
    std::shared_ptr<const SharedLayer> of(const SweepPoint& point);

private:
    struct Known {
        std::string work;  // descriptor and generation
        std::shared_ptr<const SharedLayer> layer;
        bool hopeless = false;
    };
    std::list<Known> known_;  // the last used in front
};

}  // namespace dlasim
