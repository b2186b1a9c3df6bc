// Fuzzing a reader: whatever bytes come, it takes them or refuses them with a ConfigError, in bounded time and memory. What it
// takes is planned, and read again from what is written of it.
//
// A file of this folder has the target of one reader; driver.cpp runs them, with mutations that know JSON.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"

namespace dlasim::fuzz {

/// What fuzzes a reader. A program has all targets that are linked into it.
struct Target {
    using Texts = std::vector<std::string> (*)();
    /// `input` returns 0 if it was taken, -1 if it was refused. Anything thrown is a finding.
    using Input = int (*)(const std::uint8_t* data, std::size_t size);

    Target(const char* reader, Texts good_files, Texts words_of_reader, Input take);

    std::string name;
    /// What mutations start from: good files.
    Texts seeds;
    /// Words that mean something to the reader, for insertion.
    Texts words;
    Input input;
};

/// A file of the repository.
std::string repository_file(const std::string& path);
/// All files of a folder of the repository that end so, in the order of their names.
std::vector<std::string> repository_files(const std::string& folder, const std::string& ending);

/// Where files of an input are written: in memory if there is such a place.
std::string scratch_folder();

/// Stops at what must hold and does not: a finding.
void expect(bool holds, const char* what);

template <class Action>
int taken_or_refused(Action action)
{
    try {
        action();
        return 0;
    } catch (const ConfigError& error) {
        expect(error.what()[0] != '\0', "a refusal says why");
        return -1;
    }
}

}  // namespace dlasim::fuzz
