// A file of the driver from operations: memories around what they use, descriptors with places in these memories, the task.
//
//   operations ─┬─► where they read and write ──► memories: constants, scratch; bound tensors ──► addresses
//               └─► dependencies                                                                    │
//                                        descriptors ◄──────────────────────────────────────────────┘
//
// The file is proved before it is handed out: it is read back, its registers are written as the driver writes them, and the operations
// recovered from those must be the ones that went in.
//
// Source  loadable_writing.md.
// Error   ConfigError naming the operation and what no descriptor can say.
#pragma once
#include <optional>

#include "loadable/write/host_bytes.h"
#include "loadable/write/recovery.h"

namespace dlasim::loadable {

/// Memory that the caller binds.
struct BoundTensor {
    bool output = false;
    Place place;
    std::uint64_t bytes = 0;
    TensorEntry tensor;
};

/// Bytes that are in memory before the first operation: weights, operands.
struct ConstantBytes {
    Place place;
    std::span<const std::uint8_t> bytes;
};

struct FileSource {
    const Hardware& hardware;
    std::string where;  // in messages
    std::vector<BoundTensor> bound;
    std::vector<ConstantBytes> constants;
    std::function<std::string(std::size_t operation)> name;  // of the step of an operation, for messages
    std::optional<HostSoftmax> softmax{};                    // after the last operation
};

/// The bytes of the file.
std::string driver_file(RecoveredTask task, const FileSource& source);

}  // namespace dlasim::loadable
