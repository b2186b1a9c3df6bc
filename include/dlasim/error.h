#pragma once
#include <stdexcept>
#include <string>

namespace dlasim {

/// The user asked for something impossible: where, what was found, and what would do. Exit status 2.
class ConfigError : public std::runtime_error {
public:
    ConfigError(const std::string& where, const std::string& problem) : std::runtime_error(where + ": " + problem) {}
};

/// The simulated machine broke a protocol or hangs: which unit waits for what. Exit status 3.
class MachineError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

}  // namespace dlasim
