// What all rules look at: the lists of the file, the machine, what was found so far.
#pragma once
#include <map>

#include "loadable/memory_plan.h"
#include "loadable/nvidia/check.h"
#include "loadable/nvidia/check/raw_file.h"

namespace dlasim::loadable {

/// More findings than anybody reads: the rest of the file is not looked at.
struct TooManyFindings {};
inline constexpr std::size_t kMostFindings = 10'000;

class CheckedFile {
public:
    CheckedFile(const RawFile& file, const Hardware& hardware, std::vector<Finding>& found);

    /// What the public software refuses, crashes, hangs or misreads.
    void refuse(std::string_view rule, std::string place, std::string problem) { add({true, rule, std::move(place), std::move(problem)}); }
    /// What it ignores, or what is right by luck, or wrong for some callers.
    void doubt(std::string_view rule, std::string place, std::string problem) { add({false, rule, std::move(place), std::move(problem)}); }
    bool refused() const { return refused_ != 0; }
    std::size_t refusals() const { return refused_; }

    /// The blob of that name that counts: the last one. Null if there is none.
    const RawBlob* blob(const std::string& name) const;
    const RawAddress& address(const RawTask& task, std::size_t entry) const { return file.addresses[task.addresses[entry]]; }
    const RawMemory& memory(const RawTask& task, std::size_t entry) const { return file.memories[address(task, entry).memory]; }
    /// The contents of a memory from `from` on; what no blob fills is zero.
    MemoryView view(const RawMemory& memory, std::uint64_t from) const;

    const RawFile& file;
    const Hardware& hw;

private:
    void add(Finding finding);

    std::vector<Finding>& found_;
    std::size_t refused_ = 0;
    std::map<std::string, const RawBlob*, std::less<>> blobs_;
};

/// Lists of the container: identifier, blobs, tensors, memories, addresses, bindings, submits, tasks, relocations.
void check_container(CheckedFile& f);
/// A task of the machine: network descriptor, lists, graph, operations.
void check_hardware_task(CheckedFile& f, std::size_t task);
/// A task of the host.
void check_host_task(CheckedFile& f, std::size_t task);

}  // namespace dlasim::loadable
