#pragma once
#include <stdexcept>
#include <string>

namespace dlasim {

/// What this library throws. Nothing of it crosses SystemC's kernel.
class Error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// The user asked for something impossible: where, what was found, and what would do. Exit status 2.
class ConfigError : public Error {
public:
    ConfigError(const std::string& where, const std::string& problem) : Error(where + ": " + problem) {}
};

/// The simulated machine broke a protocol or hangs: which unit waits for what. Exit status 3.
class MachineError : public Error {
public:
    using Error::Error;
};

/// An expectation of dlasim's own code does not hold, a defect of ours: file, line and condition. Exit status 3.
class InternalError : public Error {
public:
    using Error::Error;
};

}  // namespace dlasim
