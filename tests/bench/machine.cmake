if(TARGET dlasim::app)
    dlasim_bench(machine_bench.cpp USES dlasim::app)
endif()
