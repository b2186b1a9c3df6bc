// Writes a program that has run as a trace of the public players, into a folder with its memory images and what memory must hold
// afterwards:
//
//   input.txn    of the first generation: load_mem, write_reg, read_reg, wait, dump_mem
//   NAME.cfg     of the configurable one: mem_load, reg_write, poll_reg_equal, intr_notify, check_crc
//
// Source  interfaces.md 5. The readers: txn_trace.cpp, cfg_trace.cpp.
// Error   ConfigError for what the format has no words for.
#pragma once
#include <filesystem>

#include "replay/recording.h"

namespace dlasim {

enum class TraceForm { Txn, Cfg };

/// Bytes of a line of a memory's image, and of input.txn's load_mem and dump_mem: the public player takes whole lines only.
inline constexpr std::uint64_t kTxnLine = 32;

/// Before the run: makes the folder. Refuses one with somebody else's trace of the other form - ours goes - and one with an input that
/// would be written.
void check_trace_folder(TraceForm form, const std::filesystem::path& folder);
/// `recording.outputs` with their contents after the run, for input.txn in whole lines; `reads`: values that the program's reads found, in
/// their order.
void write_trace(TraceForm form, const std::filesystem::path& folder, const Recording& recording, const Hardware& hardware,
                 const std::vector<std::pair<std::string, std::uint32_t>>& reads);

}  // namespace dlasim
