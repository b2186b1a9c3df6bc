// Comments in a trace that are for dlasim alone: what its replay does in place of the statement on the line, so that every cycle is that
// of the run that was written. Other players see comments.
//
//   wait                             # dlasim ["WAIT_INTR", "SDP_0"]     an entry of a case: interfaces.md 3
//   write_reg 0xffff0003 0xffffffff  # dlasim -                          nothing
//   # dlasim ["MARK", "t0"]
#pragma once
#include <optional>
#include <string_view>
#include <variant>

#include "replay/recording.h"
#include "replay/text.h"
#include "workload/program.h"

namespace dlasim::trace {

/// What a note says: an entry, or nothing at all. None on most lines.
struct Note {
    std::optional<ProgramEntry> entry;
};
/// `comment`: how comments begin.
std::optional<Note> note_of(std::string_view text, std::string_view comment, const Line& line);

}  // namespace dlasim::trace
