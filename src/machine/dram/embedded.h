// The files of configs/dram, built in: name without ".json", and text. Written by embed.cmake.
#pragma once
#include <vector>

namespace dlasim::dram {

struct EmbeddedFile {
    const char* name;
    const char* text;
};
const std::vector<EmbeddedFile>& embedded_files();

}  // namespace dlasim::dram
