# What a build has. The library - SystemC modules, layers and networks - needs SystemC, fmt and nlohmann-json alone; everything else is a
# switch, and what needs a part that is switched off is refused by its name: src/base/files/about/parts.h.
#
#   DLASIM_COMMAND    the program dlasim and its man page: CLI11, SQLite, zlib and xxHash
#   DLASIM_LOADABLE   files of NVIDIA's compiler, read and written: FlatBuffers
#   DLASIM_TIMELOOP   problems of Timeloop: yaml-cpp
#   DLASIM_PERFETTO   --timeline: protobuf
#   DLASIM_ONNX       ONNX models: protobuf and ONNX's schema; of the program
#   DLASIM_PICTURES   PNG and JPEG files as images of a model: libpng and libjpeg; of the program
#   DLASIM_SEARCH     sweep --search: pagmo, Boost and TBB; of the program
include(CMakeDependentOption)
option(DLASIM_COMMAND "the program dlasim beside the library" ON)
foreach(part LOADABLE TIMELOOP PERFETTO)
    option(DLASIM_${part} "see cmake/parts.cmake" ${DLASIM_COMMAND})
endforeach()
foreach(part ONNX PICTURES SEARCH)
    cmake_dependent_option(DLASIM_${part} "see cmake/parts.cmake" ON DLASIM_COMMAND OFF)
endforeach()
cmake_dependent_option(DLASIM_TESTS "build the tests: they need every part" ON
    "DLASIM_COMMAND;DLASIM_LOADABLE;DLASIM_TIMELOOP;DLASIM_PERFETTO;DLASIM_ONNX;DLASIM_PICTURES;DLASIM_SEARCH" OFF)

# The archive of a library, so that a program that does not use it does not wait for it at its start; the shared one where there is no archive.
function(dlasim_find_archive variable name)
    find_library(${variable} NAMES lib${name}.a ${name} REQUIRED)
endfunction()
