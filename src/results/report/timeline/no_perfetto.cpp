// In place of timeline.cpp in a build without Perfetto's format.
#include "base/files/about/parts.h"
#include "report/timeline/timeline.h"

namespace dlasim {

void require_timelines() { refuse_missing_part("--timeline", "DLASIM_PERFETTO"); }

std::string timeline_bytes(const RunResult&, const std::string&, const std::vector<Span>&, const OverTime::Parts&, const TimelineSelection&)
{
    require_timelines();
    return {};
}

}  // namespace dlasim
