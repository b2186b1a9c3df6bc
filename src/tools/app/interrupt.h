// Ctrl-C: a run stops at the next look outside, leaves no partial file and ends with status 130.
#pragma once

namespace dlasim {

/// From here on the first SIGINT, SIGTERM or SIGHUP is only remembered, a second one kills.
void watch_for_interrupt();
bool interrupted();

}  // namespace dlasim
