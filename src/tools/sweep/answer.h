// What a sweep answers: the best machine of those that meet everything, its margins, one step on each axis, and its frames in time.
//
//   machines + question ──► the best, or where none meets everything the nearest ──► best_of(): text
//                                                                              └──► answer_json(): head of the page
#pragma once
#include <string>
#include <vector>

#include "sweep/machines.h"

namespace dlasim {

/// A machine by itself: every workload, and whether it meets everything.
std::string machine_text(const SweptMachine& machine, const MachineQuestion& question);
/// The machine with the best mean of a figure among those that meet everything: what it is, its margins, what binds, what a step more of
/// each axis would change, and the command that shows it. Where none meets everything: which comes nearest.
std::string best_of(const std::vector<SweptMachine>& machines, const MachineQuestion& question, const std::string& column);
/// The first machines by the mean of a figure, with its value and what each misses. Within 80 columns.
std::string sorted_machines(const std::vector<SweptMachine>& machines, const MachineQuestion& question, const std::string& column);
/// The figure by which machines are compared where the user names none: power at the rates, else the area.
std::string default_best(const MachineQuestion& question);
/// The same by question.best, for the page: verdict, limits, steps, and the first second of frames. Null where no machine has a result
/// of every workload.
nlohmann::ordered_json answer_json(const std::vector<SweptMachine>& machines, const MachineQuestion& question);

}  // namespace dlasim
