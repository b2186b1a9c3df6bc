// Points that run side by side, each in a child of this process.
//
//   start(index) ── fork ──► child: runs the point, writes into its folder, ends with its status
//   ended()      ◄────────── every child that has ended
//
// A child dies with its parent, whatever kills it.
#pragma once
#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace dlasim {

class Children {
public:
    /// `work`: what a child does for a point; gives its status. `folder`: of a point; messages.txt in it gets what is said.
    Children(std::function<int(std::size_t)> work, std::function<std::filesystem::path(std::size_t)> folder)
        : work_(std::move(work)), folder_(std::move(folder))
    {
    }
    ~Children();  // ends them
    Children(const Children&) = delete;
    Children& operator=(const Children&) = delete;

    std::size_t running() const { return running_.size(); }
    void start(std::size_t index);
    struct Ended {
        std::size_t index = 0;
        int status = 0;  // of the process; 128 and the signal that ended it
    };
    /// Waits until a child has ended, or an interrupt: then it may be empty.
    std::vector<Ended> ended();

private:
    [[noreturn]] void become_point(pid_t parent, int messages, std::size_t index);

    std::function<int(std::size_t)> work_;
    std::function<std::filesystem::path(std::size_t)> folder_;
    std::map<pid_t, std::size_t> running_;
};

}  // namespace dlasim
