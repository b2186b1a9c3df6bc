// Several faults of one file, reported together.
#pragma once
#include <string>
#include <vector>

#include "base/error.h"

namespace dlasim {

/// what() has them in a row, for tables; `problems` for who shows a line each.
class ConfigErrors : public ConfigError {
public:
    ConfigErrors(const std::string& where, const std::vector<std::string>& all)
        : ConfigError(where, in_a_row(all)), place(where), problems(all)
    {
    }
    std::string place;
    std::vector<std::string> problems;

private:
    static std::string in_a_row(const std::vector<std::string>& all)
    {
        std::string text = std::to_string(all.size()) + " problems: ";
        for (const std::string& problem : all) text += (&problem == &all.front() ? "" : "; ") + problem;
        return text;
    }
};

}  // namespace dlasim
