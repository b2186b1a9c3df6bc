// Commands whose only argument is a kind of file: `dlasim schema KIND`, `dlasim new KIND`.
#pragma once
#include <CLI/CLI.hpp>
#include <functional>
#include <string>

namespace dlasim {

/// A command of the command line, and what it does once its options have been read; `line` is the whole command line.
struct Command {
    CLI::App* app;
    std::function<int(const std::string& line)> run;
};

Command add_schema(CLI::App& app);
Command add_new(CLI::App& app);

}  // namespace dlasim
