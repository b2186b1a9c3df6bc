// What is tried beside a run: of `explain`, and for the page of a run.
#pragma once
#include <cstddef>
#include <string>

namespace dlasim {

struct TrialOptions {
    std::size_t remedies = 0;  // largest number that is tried
    bool sizes = false;        // --sensitivity
    double slack = -1;         // percent more time that a smaller or slower machine may take; below 0: not asked
    unsigned jobs = 0;         // 0: as many as there are processors
    bool any() const { return remedies != 0 || sizes || slack >= 0; }
};

/// Parts of a page.
struct TriedSections {
    std::string styles, html;
};

}  // namespace dlasim
