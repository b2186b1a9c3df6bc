// Commands that plan a program and do not run it: `dlasim export`, `dlasim lint`. And options that they share with others.
#pragma once
#include "app/kind_commands.h"
#include "plan/planned.h"

namespace dlasim {

/// How the ranges of a model follow from its images.
void add_bias_correction(CLI::App& app, bool& bias_correction);
void add_preprocess(CLI::App& app, std::vector<std::string>& texts);
void add_calibration(CLI::App& app, std::string& calibration);
/// The machine: --hw, --memory, --set. `set`: of its help.
void add_machine_options(CLI::App& app, PlanOptions& options, const char* hardware, const char* set);
/// What `loadable`, `export` and `lint` have in common.
void add_loadable_options(CLI::App& app, PlanOptions& options);

Command add_export(CLI::App& app);
Command add_lint(CLI::App& app);

}  // namespace dlasim
