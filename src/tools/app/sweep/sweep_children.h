// Points that run side by side, each in a child of this process.
//
//   start(index) ── fork ──► child: runs the point, writes into its folder, sends its figures, ends with its status
//   ended()      ◄────────── every child that has ended, and its output
//
// A child dies with its parent, whatever kills it.
#pragma once
#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace dlasim {

class Children {
public:
    using Tell = std::function<void(std::string_view)>;
    /// `work`: what a child does for a point; gives its status, and may send its parent a text once. `folder`: of a point; messages.txt
    /// in it gets the messages. `limit`: seconds of CPU time that a child may take.
    Children(std::function<int(std::size_t, const Tell&)> work, std::function<std::filesystem::path(std::size_t)> folder,
             std::uint64_t limit)
        : work_(std::move(work)), folder_(std::move(folder)), limit_(limit)
    {
    }
    ~Children();  // ends them
    Children(const Children&) = delete;
    Children& operator=(const Children&) = delete;

    std::size_t running() const { return running_.size(); }
    void start(std::size_t index);
    struct Ended {
        std::size_t index = 0;
        int status = 0;      // of the process; 128 and the signal that ended it
        std::string output;  // empty if it was ended by a signal
    };
    /// Waits until a child has ended, or an interrupt: then it may be empty.
    std::vector<Ended> ended();

private:
    struct Child {
        std::size_t index = 0;
        int output = -1;  // a file in memory
    };
    [[noreturn]] void become_point(pid_t parent, int messages, const Child& child);
    static Ended look_at(const Child& child, int status);

    std::function<int(std::size_t, const Tell&)> work_;
    std::function<std::filesystem::path(std::size_t)> folder_;
    std::uint64_t limit_;
    std::map<pid_t, Child> running_;
};

}  // namespace dlasim
