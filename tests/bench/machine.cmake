if(TARGET dlasim::report)
    dlasim_bench(machine_bench.cpp USES dlasim::report dlasim::platform)
endif()
