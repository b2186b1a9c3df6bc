// Commands that plan a program and do not run it: `dlasim export`, `dlasim lint`. And options that they share with others.
#pragma once
#include "app/commands/loadable_command.h"
#include "app/kind_commands.h"

namespace dlasim {

/// How the ranges of a model follow from its images.
void add_bias_correction(CLI::App& app, bool& bias_correction);
void add_preprocess(CLI::App& app, std::vector<std::string>& texts);
void add_calibration(CLI::App& app, std::string& calibration);
/// What `loadable`, `export` and `lint` have in common; the option of the seed.
CLI::Option* add_loadable_options(CLI::App& app, LoadableOptions& file);

Command add_export(CLI::App& app);
Command add_lint(CLI::App& app);

}  // namespace dlasim
